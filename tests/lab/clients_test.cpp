// A lab with three client machines, separate from the lab of all other tests: the link emulator
// loses and duplicates no packets, each machine has its own name and addresses, each lesson runs on
// the right machines, and a lab that cannot start leaves no process.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/lesson24_checks.hpp"
#include "support/other_lab.hpp"
#include "support/step_checks.hpp"

namespace clients_test {

using namespace std::chrono_literals;
using support::Argv;
using support::LabRun;
using support::OtherLab;
using Strings = std::vector<std::string>;

class Clients : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
        lab = std::make_unique<OtherLab>("build/lab-clients",
                                         Argv{"LAB_CLIENTS=3", "LAB_MEMORY=512"});
        const auto up = lab->run({"lab/lab", "up"}, {}, 8min);
        ASSERT_EQ(up.exit_code, 0) << up.all();
    }
    static void TearDownTestSuite() { lab.reset(); }

    static inline std::unique_ptr<OtherLab> lab;
    static inline const Strings hosts{"server", "client", "client2", "client3"};
    static inline const Strings addresses{"192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"};
};

TEST_F(Clients, status_and_exec_know_all_of_them) {
    const auto status = lab->run({"lab/lab", "status"});
    EXPECT_NE(status.out.find("4 QEMU guests"), std::string::npos) << status.all();
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const std::string line = hosts[i] + ": " + addresses[i] + ", 2001:db8::";
        EXPECT_NE(status.out.find("\n" + line), std::string::npos) << status.all();
        EXPECT_EQ(lab->exec(hosts[i], {"hostname"}).out, "rdma-" + hosts[i] + "\n");
    }
    EXPECT_EQ(lab->exec("client1", {"hostname"}).out, "rdma-client\n");
    const auto none = lab->exec("client4", {"hostname"});
    EXPECT_EQ(none.all(),
              "exit 2\nlab: the host is one of server client client2 client3, not 'client4'.\n");
}

TEST_F(Clients, each_reaches_each_of_the_others) {
    for (const std::string& host : hosts)
        for (const std::string& other : hosts)
            for (const char* family : {"-4", "-6"}) {
                const auto ping =
                    lab->exec(host, {"ping", family, "-c", "1", "-W", "5", "rdma-" + other});
                EXPECT_EQ(ping.exit_code, 0) << host << " to " << other << ": " << ping.all();
                EXPECT_EQ(ping.out.find("DUP!"), std::string::npos) << ping.out;
            }
}

// Captures in promiscuous mode on all four machines: the two that communicate capture each frame
// once. The link emulator has learned their MAC addresses and forwards the frames to no other
// machine.
TEST_F(Clients, a_frame_comes_exactly_once_and_only_to_whom_it_is_for) {
    lab->exec("client", {"ping", "-c", "1", "rdma-client2"});  // so that they know each other
    std::map<std::string, std::unique_ptr<support::Process>> captures;
    for (const std::string& host : hosts) {
        captures[host] = lab->start(host, {"build/rocecap", "live", "-i", "eth0", "-p", "-f",
                                           "icmp and icmp[4:2] == 0x1616"});
        ASSERT_TRUE(captures[host]->await("rocecap: ready", 60s));
    }
    const auto ping = lab->exec("client", {"ping", "-e", "5654", "-c", "3", "192.0.2.3"});
    ASSERT_EQ(ping.exit_code, 0) << ping.all();
    for (const std::string& host : hosts) {
        captures[host]->close_input();
        const auto end = captures[host]->wait(30s);
        const bool talks = host == "client" || host == "client2";
        EXPECT_NE(
            end.err.find(fmt::format("rocecap: {} packets captured, 0 dropped", talks ? 6 : 0)),
            std::string::npos)
            << host << ": " << end.all();
    }
}

TEST_F(Clients, an_ordinary_step_runs_on_the_first_alone) {
    const LabRun run = support::read_run(lab->run({"lab/lab", "capture", "01"}, {}, 3min));
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    EXPECT_TRUE(run.info["hosts"].contains("client"));
    EXPECT_FALSE(run.info["hosts"].contains("client2")) << run.info["hosts"];
    EXPECT_FALSE(std::filesystem::exists(run.file("client2.log")));
    EXPECT_EQ(run.text_of("run.json").find("--clients"), std::string::npos);
}

// Checks the program on one client machine: it exited with 0, and its requests are on the wire as
// its log predicts. Returns this log.
std::vector<runlog::Event> expect_joined(const LabRun& run, const std::string& client,
                                         const std::string& address, std::size_t requests) {
    EXPECT_EQ(run.info["hosts"][client]["exit_code"], 0) << client;
    EXPECT_EQ(run.info["hosts"][client]["address"], address);
    EXPECT_TRUE(run.info["clock"][client]["offset_s"].is_number()) << run.info["clock"];
    const auto psns = support::run({"build/rocecap", "psns", run.dir});
    for (const auto& direction : {client + " → server", "server → " + client})
        EXPECT_TRUE(psns.out.find(direction + ' ') != std::string::npos ||
                    psns.out.find(direction + ", QP ") != std::string::npos)
            << psns.out;

    auto log = support::events_of(run.file(client + ".jsonl"));
    std::set<std::uint32_t> predicted;
    for (const auto& post : LabRun::all(log, "post_send"))
        predicted.merge(support::psns_of(post));
    std::set<std::uint32_t> seen;
    for (const auto& row :
         support::rows(run, "bth.psn",
                       fmt::format("ip.src == {} and (bth.opcode_name contains WRITE or "
                                   "bth.opcode_name contains Request)",
                                   address)))
        seen.insert(static_cast<std::uint32_t>(std::stoul(row[0])));
    EXPECT_TRUE(std::ranges::includes(predicted, seen)) << client;
    EXPECT_GE(seen.size(), requests) << client;
    EXPECT_NE(run.text_of("timeline.txt").find("← " + client + " wr "), std::string::npos)
        << run.text_of("timeline.txt");
    return log;
}

TEST_F(Clients, a_step_for_all_runs_on_each_and_its_logs_are_joined_to_the_wire) {
    const LabRun run = support::read_run(lab->run({"lab/lab", "capture", "23"}, {}, 3min));
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    EXPECT_NE(run.outcome.err.find("client ok, client2 ok, client3 ok, server ok"),
              std::string::npos)
        << run.outcome.err;
    support::expect_nothing_lost_and_all_understood(run);
    support::expect_every_packet_joined(run);
    std::set<std::string> ranks;
    for (std::size_t i = 1; i < hosts.size(); ++i) {
        const auto log = expect_joined(run, hosts[i], addresses[i], 20);
        const auto* worker = LabRun::find(log, "worker");
        ASSERT_NE(worker, nullptr) << hosts[i];
        ranks.insert(std::to_string(worker->number("rank").value()));
    }
    EXPECT_EQ(ranks, (std::set<std::string>{"0", "1", "2"}));
}

TEST_F(Clients, ranks_on_each_connect_to_each_other_by_the_table_alone) {
    const LabRun run = support::read_run(lab->run({"lab/lab", "capture", "24"}, {}, 3min));
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    support::expect_nothing_lost_and_all_understood(run);
    support::expect_every_packet_joined(run);
    std::vector<std::vector<runlog::Event>> logs{run.server};
    std::set<std::string> ranks;
    for (std::size_t i = 1; i < hosts.size(); ++i) {
        logs.push_back(expect_joined(run, hosts[i], addresses[i], 6));
        const auto* place = LabRun::find(logs.back(), "rank");
        ASSERT_NE(place, nullptr) << hosts[i];
        ranks.insert(std::to_string(place->number("rank").value()));
        const auto* check = LabRun::find(logs.back(), "check");
        ASSERT_NE(check, nullptr) << "its ring is good";
    }
    EXPECT_EQ(ranks, (std::set<std::string>{"1", "2", "3"}));
    std::set<std::string> gids;
    for (const auto& record : LabRun::all(run.server, "record"))
        gids.emplace(record.text("gid"));
    EXPECT_EQ(gids.size(), 4U) << "a machine each";
    support::expect_barriers_held(logs, 4, 8);
}

// A run of lesson 25 starts when all clients are connected, and its server serves them in turn.
TEST_F(Clients, are_served_by_one_inference_server_at_the_same_time) {
    const LabRun run = support::read_run(
        lab->run({"lab/lab", "capture", "25"}, {"LAB_SERVER_ARGS=--launch-us 20000"}, 3min));
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    support::expect_every_packet_joined(run);
    for (std::size_t i = 1; i < hosts.size(); ++i) {
        const auto log = support::events_of(run.file(hosts[i] + ".jsonl"));
        const auto* check = LabRun::find(log, "check");
        ASSERT_NE(check, nullptr) << hosts[i];
        EXPECT_EQ(check->text("verdict"), "good") << hosts[i];
    }
    std::map<std::uint64_t, std::vector<std::size_t>> turns;  // by client
    const auto served = LabRun::all(run.server, "served");
    for (std::size_t turn = 0; turn < served.size(); ++turn)
        turns[served[turn].number("client").value()].push_back(turn);
    ASSERT_EQ(turns.size(), 3U);
    for (const auto& [client, own] : turns) {
        EXPECT_EQ(own.size(), 8U);
        for (const auto& [other, its] : turns)
            EXPECT_LT(own.front(), its.back()) << client << " began when " << other << " was over";
    }
}

// Of the ring of four, the capture has what the server sends and receives.
TEST_F(Clients, train_one_model_in_a_ring_and_learn_the_same) {
    const LabRun run =
        support::read_run(lab->run({"lab/lab", "capture", "26", "--", "--steps", "2"}, {}, 3min));
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    support::expect_every_packet_joined(run);
    std::set<std::uint64_t> ranks, weights;
    for (const std::string& host : hosts) {
        const auto log = support::events_of(run.file(host + ".jsonl"));
        const auto* joined = LabRun::find(log, "joined");
        const auto* memory = LabRun::find(log, "memory");
        ASSERT_TRUE(joined != nullptr && memory != nullptr) << host;
        ranks.insert(joined->number("rank").value());
        weights.insert(memory->number("crc32").value());
    }
    EXPECT_EQ(ranks, (std::set<std::uint64_t>{0, 1, 2, 3}));
    EXPECT_EQ(weights.size(), 1U) << "bit for bit";
    const auto listed = support::run({"examples/26_all_reduce/ring", run.dir});
    EXPECT_EQ(listed.exit_code, 0) << listed.all();
    // Each rank sends twelve chunks in each all_reduce; of these, two have the sum of three ranks.
    EXPECT_EQ(std::ranges::count(listed.out, '\n'), 2 * (1 + 4 * 12)) << listed.out;
    std::size_t threes = 0;
    for (std::size_t at = 0; (at = listed.out.find("sum of 3", at)) != std::string::npos; ++at)
        ++threes;
    EXPECT_EQ(threes, 2U * 4 * 2) << listed.out;
}

TEST_F(Clients, ssh_takes_a_list_of_clients) {
    const LabRun run =
        support::read_run(lab->run({"lab/lab", "run", "23"}, lab->as_ssh(addresses), 3min));
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    EXPECT_EQ(run.info["backend"], "ssh");
    for (const std::string& host : hosts)
        EXPECT_EQ(run.info["hosts"][host]["exit_code"], 0) << host;
    Argv wrong = lab->as_ssh(addresses);
    wrong.emplace_back("CAPTURE_CLIENT_IP=192.0.2.2 192.0.2.3");
    const auto refused = lab->run({"lab/lab", "run", "23"}, wrong);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.err.find("CAPTURE_CLIENT_IP names 2 clients and LAB_CLIENT 3"),
              std::string::npos)
        << refused.all();
    lab->run({"lab/lab", "down"}, lab->as_ssh(addresses));
}

TEST_F(Clients, up_says_what_is_too_much_for_the_host_and_leaves_what_runs) {
    const auto up = lab->run({"lab/lab", "up"}, {"LAB_MEMORY=1000000"});
    EXPECT_EQ(up.exit_code, 1);
    EXPECT_NE(up.err.find("4 guests of LAB_MEMORY=1000000 MiB need 4000000 MiB, and this host has"),
              std::string::npos)
        << up.all();
    EXPECT_EQ(lab->exec("client3", {"true"}).exit_code, 0);
    for (const char* clients : {"0", "16", "two"})
        EXPECT_EQ(lab->run({"lab/lab", "up"}, {fmt::format("LAB_CLIENTS={}", clients)}).exit_code,
                  2);
}

TEST(ClientsThatDoNotComeUp, leave_no_guest) {
    const auto problem = support::bring_up();
    ASSERT_FALSE(problem) << *problem;
    OtherLab lab("build/lab-none",
                 {"LAB_CLIENTS=2", "LAB_MEMORY=256", "LAB_BOOT_SECONDS=1", "LAB_KVM_SECONDS=1"});
    const auto up = lab.run({"lab/lab", "up"}, {}, 2min);
    EXPECT_EQ(up.exit_code, 1) << up.all();
    EXPECT_NE(up.err.find("was not ready within 1 s"), std::string::npos) << up.all();
    EXPECT_EQ(lab.guests(), "");
}

TEST(ClientsThatDoNotComeUp, are_stopped_where_the_script_is) {
    const auto problem = support::bring_up();
    ASSERT_FALSE(problem) << *problem;
    OtherLab lab("build/lab-none", {"LAB_CLIENTS=2", "LAB_MEMORY=256"});
    {
        support::Process up({"lab/lab", "up"}, lab.environment());
        const auto deadline = std::chrono::steady_clock::now() + 60s;
        while (!std::filesystem::exists("build/lab-none/client2.pid") &&
               std::chrono::steady_clock::now() < deadline) {
        }
        up.signal(SIGTERM);
        EXPECT_EQ(up.wait(60s).exit_code, 128 + SIGTERM);
    }
    EXPECT_EQ(lab.guests(), "");
}

}  // namespace clients_test
