// Step 08 in the lab: who is who on the wire, clients that misbehave beside one that works, and a
// growing crowd.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "exchange/endpoint.hpp"
#include "support/certificates.hpp"
#include "support/step_checks.hpp"

namespace step08_test {

using std::chrono::seconds;
using support::LabRun;
using support::rows;
using Strings = std::vector<std::string>;

constexpr const char* client = "build/examples/08_secure_multi_client/client";
constexpr const char* server = "build/examples/08_secure_multi_client/server";

class Step08 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
        support::make_certificates("build/certs");
    }
};

std::string hex_of(const std::string& psn) {
    char text[7];
    std::snprintf(text, sizeof text, "%lx", std::stoul(psn));
    return text;
}

TEST_F(Step08, each_client_has_a_queue_pair_psns_and_three_kinds_of_work_of_its_own) {
    const LabRun& run = support::plain_run("08");
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();

    // The client's queue pairs and those of the server, in pairs, as both logs have them.
    std::map<std::string, std::string> server_of;
    for (const auto& state : LabRun::all(run.client, "qp_state"))
        server_of[std::to_string(state.number("qpn").value())] =
            std::to_string(state.number("dest_qpn").value());
    ASSERT_EQ(server_of.size(), 3U);
    std::set<std::string> psns;
    for (const auto& [qpn, dest_qpn] : server_of) {
        Strings opcodes;
        std::set<std::string> seen;  // on a busy host, some are sent again
        const std::string to_it =
            fmt::format("bth.destqp == {} and ip.dst == {}", dest_qpn, support::server_ip);
        for (const auto& row : rows(run, "bth.psn,bth.opcode_name", to_it)) {
            if (opcodes.empty())
                psns.insert(row[0]);
            if (seen.insert(row[0]).second)
                opcodes.push_back(row[1]);
        }
        EXPECT_EQ(opcodes, (Strings{"RC RDMA WRITE First", "RC RDMA WRITE Middle",
                                    "RC RDMA WRITE Last", "RC RDMA READ Request", "RC SEND Only"}))
            << "queue pair " << dest_qpn;
    }
    EXPECT_EQ(psns.size(), 3U) << "a first PSN came twice";

    for (const char* file : {"server.log", "client.log", "server.jsonl", "client.jsonl"})
        for (const std::string& psn : psns)
            EXPECT_FALSE(std::regex_search(
                run.text_of(file), std::regex("\\b(" + psn + "|0x0*" + hex_of(psn) + ")\\b")))
                << file << " has PSN " << psn;

    // Both sides drain: the server gets its four receives back, unused, from each queue pair.
    const auto completions = support::statuses(run.server);
    EXPECT_EQ(std::ranges::count(completions, "SUCCESS"), 3);
    EXPECT_EQ(std::ranges::count(completions, "WR_FLUSH_ERR"), 12);
    const auto states = [](const std::vector<runlog::Event>& log) {
        Strings all;
        for (const auto& event : LabRun::all(log, "qp_state"))
            all.emplace_back(event.text("state"));
        std::ranges::sort(all);
        return all;
    };
    const Strings three_times{"ERR", "ERR", "ERR", "RTS", "RTS", "RTS"};
    EXPECT_EQ(states(run.server), three_times);
    EXPECT_EQ(states(run.client), three_times);

    const auto* stats = LabRun::find(run.server, "stats");
    ASSERT_NE(stats, nullptr);
    EXPECT_EQ(stats->number("most"), 3U);
    EXPECT_EQ(stats->number("sends"), 3U);
    EXPECT_EQ(stats->number("send_bytes"), 96U);
    EXPECT_EQ(stats->number("told_write_bytes"), 30'000U);
    EXPECT_EQ(stats->number("told_read_bytes"), 30'000U);
    EXPECT_EQ(stats->number("lost"), 0U);
    support::expect_every_packet_joined(run);
    EXPECT_EQ(run.info["capture"]["dropped"], 0);
}

// A server whose pid is known in the guest.
class Serving {
  public:
    explicit Serving(const std::string& options)
        : process_(
              support::start("server", {"bash", "-c",
                                        "echo $$ >/tmp/step08.pid; exec " + std::string(server) +
                                            " --run-log - " + options})) {
        EXPECT_TRUE(process_.await("listening on", seconds(30)));
    }

    // Asks for statistics until they say so.
    bool tells(const std::string& text) {
        for (int tries = 0; tries < 60; ++tries) {
            support::exec("server", {"bash", "-c", "kill -USR1 $(</tmp/step08.pid)"});
            if (process_.await(text, seconds(1)))
                return true;
        }
        return false;
    }

    // Without being asked: --stats.
    bool says(const std::string& text, seconds time) { return process_.await(text, time); }

    // Its whole log.
    std::vector<runlog::Event> stop() {
        support::exec("server", {"bash", "-c", "kill -TERM $(</tmp/step08.pid)"});
        const auto outcome = process_.wait(seconds(30));
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        std::vector<runlog::Event> events;
        std::istringstream lines(outcome.out);
        for (std::string line; std::getline(lines, line);)
            if (auto event = runlog::from_json(line))
                events.push_back(*std::move(event));
        return events;
    }

  private:
    support::Process process_;
};

std::string resources() {
    return support::exec("server", {"rdma", "resource", "show"}).out;
}

support::Process shell_on_client(const std::string& commands) {
    return support::start("client", {"bash", "-c", commands});
}

// TCP connections that are held, each with these words said at first.
support::Process connections(int count, const std::string& words) {
    return shell_on_client("for ((i = 0; i < " + std::to_string(count) +
                           "; i++)); do exec {fd}<>/dev/tcp/" + support::server_ip +
                           "/18515; printf '" + words +
                           "' >&$fd; done; echo opened; exec sleep 300");
}

// OpenSSL's client, with the certificate of one of ours.
const std::string s_client = "openssl s_client -quiet -connect " + support::server_ip +
                             ":18515 -CAfile build/certs/ca.crt -cert build/certs/client.crt -key "
                             "build/certs/client.key ";

support::Outcome one_client() {
    return support::exec("client", {client, support::server_ip, "--clients", "1"});
}

TEST_F(Step08, who_misbehaves_is_dropped_and_disturbs_nobody) {
    const std::string before = resources();
    Serving serving("--bind " + support::server_ip + " --clients 2 --setup-time 10");
    const std::string listening = resources();

    // One works from the first to the last; the others come and go beside it.
    support::Process good = support::start("client", {client, support::server_ip, "--clients", "1",
                                                      "--operations", "1500", "--length", "1000"});
    ASSERT_TRUE(good.await("are connected", seconds(30)));

    // A second one; a third is one too many. The second is killed in the middle of its work.
    support::Process killed =
        shell_on_client("echo $$ >/tmp/step08.pid; exec " + std::string(client) + " " +
                        support::server_ip + " --clients 1 --operations 100000000 --length 5000");
    ASSERT_TRUE(killed.await("post_send wr 20", seconds(30)));
    const auto third = one_client();
    EXPECT_EQ(third.exit_code, 1);
    EXPECT_NE(third.err.find("the peer refuses: the server already serves 2 clients (--clients)."),
              std::string::npos)
        << third.all();
    support::exec("client", {"bash", "-c", "kill -KILL $(</tmp/step08.pid)"});
    EXPECT_TRUE(serving.tells("1 lost (closed 1,"));

    // No TLS, and too old a TLS.
    const support::Process garbage =
        connections(1, "this is no ClientHello, but it is long enough");
    EXPECT_TRUE(serving.tells("tls 1,"));
    const auto old = support::exec("client", {"bash", "-c", s_client + "-tls1_2 </dev/null"});
    EXPECT_NE(old.err.find("alert protocol version"), std::string::npos) << old.all();
    EXPECT_TRUE(serving.tells("tls 2,"));

    // A certificate does not make garbage better, nor silence.
    const auto babble = support::exec(
        "client", {"bash", "-c", "(printf '%.0sgarbage ' {1..99}; exec sleep 5) | " + s_client});
    EXPECT_NE(babble.out.find("does not speak this lab's exchange"), std::string::npos)
        << babble.all();
    EXPECT_TRUE(serving.tells("protocol 1,"));
    const support::Process mute = shell_on_client("sleep 300 | " + s_client);
    EXPECT_TRUE(serving.tells("late 1,"));

    // A flood of silence: who has something to say gets through meanwhile.
    support::Process flood = connections(100, "");
    ASSERT_TRUE(flood.await("opened", seconds(60)));
    const auto newcomer = one_client();
    EXPECT_EQ(newcomer.exit_code, 0) << newcomer.all();
    EXPECT_TRUE(serving.tells("late 101,"));
    EXPECT_TRUE(serving.tells("1 clients (most 2,")) << "the good one should be there still";

    const auto outcome = good.wait(seconds(180));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(serving.tells("0 clients (most 2,"));
    EXPECT_EQ(resources(), listening);
    const auto log = serving.stop();
    EXPECT_EQ(resources(), before);

    // The newcomer was through before the first of the flood had been given up.
    std::int64_t left = 0;
    std::int64_t given_up = 0;
    for (const auto& event : log) {
        if (event.name == "client" && event.text("state") == "has left" && left == 0)
            left = event.t_ns;
        if (event.name == "lost" && event.text("text") == "it said nothing at all." &&
            given_up == 0)
            given_up = event.t_ns;
    }
    EXPECT_GT(left, 0);
    EXPECT_LT(left, given_up);
    for (const auto& event : log)
        for (const auto& field : event.fields) {
            const bool is_psn = field.key == "psn" || field.key.ends_with("_psn");
            EXPECT_TRUE(!is_psn || event.text(field.key) == "secret") << runlog::to_json(event);
        }
}

// A file, which the guests see, with the endpoint message of a client that names this address as its
// GID.
std::string endpoint_file(const std::string& address) {
    const exchange::Endpoint endpoint{
        .qpn = 17,
        .psn = 5,
        .path_mtu = 4096,
        .gid = util::Address::parse(address).value().ipv6_bytes(),
    };
    const auto bytes = exchange::serialize(endpoint);
    std::filesystem::create_directories("build/step08_test");
    std::string name = "build/step08_test/" + address;
    std::ofstream(name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return name;
}

TEST_F(Step08, who_names_a_gid_that_is_not_its_own_is_refused) {
    const Strings gids{"192.0.2.100", "192.0.2.1", "192.0.2.255", "ff02::1"};
    Serving serving("--bind " + support::server_ip);
    std::string commands;
    for (const std::string& gid : gids)
        commands += "{ cat " + endpoint_file(gid) + "; sleep 10; } | " + s_client + " & ";
    const auto outcome = support::exec("client", {"bash", "-c", commands + "wait"});
    for (const std::string gid :
         {"::ffff:192.0.2.100", "::ffff:192.0.2.1", "::ffff:192.0.2.255", "ff02::1"})
        EXPECT_NE(outcome.out.find(fmt::format("its GID is {}, but it is {} that is connected.",
                                               gid, support::client_ip)),
                  std::string::npos)
            << gid << " in\n"
            << outcome.all();
    EXPECT_TRUE(serving.tells("protocol 4,"));
    serving.stop();
}

// Eight clients from an address that has ceased to answer ARP requests: ibv_modify_qp(RTR) then
// takes a second for each. Who comes from another address meanwhile does not wait for their end.
TEST_F(Step08, whose_address_does_not_resolve_delays_nobody) {
    Serving serving("--bind :: --setup-time 60");
    support::Process mute = shell_on_client(
        "rm -f /tmp/step08.*; ip address add 192.0.2.77/24 dev eth0; "
        "for i in {1..8}; do { until [[ -e /tmp/step08.go ]]; do sleep 0.1; done; cat " +
        endpoint_file("192.0.2.77") + "; exec sleep 60; } | " + s_client +
        "-brief -nocommands -bind 192.0.2.77:0 2>/tmp/step08.$i & done; "
        "until (($(cat /tmp/step08.? | grep -c ESTABLISHED) == 8)); do sleep 0.2; done; "
        "sysctl -qw net.ipv4.conf.eth0.arp_ignore=8; echo ready; wait");
    ASSERT_TRUE(mute.await("ready", seconds(60)));
    ASSERT_EQ(support::exec("server", {"ip", "neighbour", "flush", "to", "192.0.2.77"}).exit_code,
              0);
    const auto newcomer =
        support::exec("client", {"bash", "-c",
                                 "touch /tmp/step08.go; exec " + std::string(client) + " " +
                                     support::server_ip6 + " --clients 1"});
    EXPECT_EQ(newcomer.exit_code, 0) << newcomer.all();
    EXPECT_TRUE(serving.tells("failed 8)"));
    support::exec("client", {"bash", "-c",
                             "sysctl -qw net.ipv4.conf.eth0.arp_ignore=0; "
                             "ip address del 192.0.2.77/24 dev eth0"});
    int lost = 0;
    int lost_before = 8;
    for (const auto& event : serving.stop()) {
        lost += event.name == "lost" ? 1 : 0;
        if (event.name == "client" && event.text("state") == "connected")
            lost_before = lost;
    }
    EXPECT_EQ(lost, 8);
    EXPECT_LT(lost_before, 8);
}

TEST_F(Step08, who_goes_on_no_more_is_dropped_and_statistics_come_by_themselves) {
    Serving serving("--bind " + support::server_ip + " --idle-time 2 --stats 1");
    support::Process stopped = shell_on_client(
        "echo $$ >/tmp/step08.pid; exec " + std::string(client) + " " + support::server_ip +
        " --clients 1 --timeout 3 --operations 100000000 --length 1000");
    ASSERT_TRUE(stopped.await("post_send wr 20", seconds(30)));
    EXPECT_TRUE(serving.says("1 clients (most 1,", seconds(20)));
    support::exec("client", {"bash", "-c", "kill -STOP $(</tmp/step08.pid)"});
    EXPECT_TRUE(serving.says("1 lost (closed 0, late 1,", seconds(30)));
    support::exec("client", {"bash", "-c", "kill -CONT $(</tmp/step08.pid)"});
    EXPECT_EQ(stopped.wait(seconds(60)).exit_code, 1);
    EXPECT_EQ(one_client().exit_code, 0) << "the next one is served";
    serving.stop();
}

TEST_F(Step08, a_server_that_cannot_hold_its_clients_says_so_at_once) {
    const auto outcome =
        support::exec("server", {"bash", "-c", "ulimit -n 1000; exec " + std::string(server)});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("--clients 1000 takes 1544 open files, and 1000 are allowed"),
              std::string::npos)
        << outcome.err;
}

// make bench-clients has 1,000, too: that takes minutes under emulation.
TEST_F(Step08, a_crowd_of_ten_and_of_a_hundred_is_served_and_nothing_is_left) {
    const std::string before = resources();
    std::uint64_t memory_of_ten = 0;
    for (const std::string clients : {"10", "100"}) {
        const LabRun run =
            support::read_run(support::run({"lab/lab", "run", "08", "--", "--clients", clients},
                                           {"CAPTURE_SECONDS=150"}, std::chrono::minutes(3)));
        ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.err;
        const auto* stats = LabRun::find(run.server, "stats");
        const auto* setup = LabRun::find(run.client, "setup");
        ASSERT_NE(stats, nullptr);
        ASSERT_NE(setup, nullptr);
        EXPECT_EQ(std::to_string(stats->number("most").value()), clients) << "not all at once";
        EXPECT_EQ(stats->number("lost"), 0U);
        EXPECT_EQ(stats->number("sends"), stats->number("most"));
        EXPECT_EQ(setup->number("clients"), stats->number("most"));
        const std::uint64_t memory = stats->number("memory_a_client").value();
        std::cout << runlog::to_text(*setup) << "; " << memory << " B a client at the server\n";
        // What does not grow with the clients is shared by ten times as many.
        if (memory_of_ten == 0)
            memory_of_ten = memory;
        else
            EXPECT_LT(memory, memory_of_ten);
    }
    EXPECT_EQ(resources(), before);
}

}  // namespace step08_test
