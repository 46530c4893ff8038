// Programs that know nothing of this project, traced in the lab: each send request that the log has
// is on the wire with the PSNs that the log predicts, and each data packet has a request.
#include <filesystem>
#include <map>
#include <set>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>

#include "support/lab.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"

namespace rocetrace_test {

using runlog::Event;
using support::Argv;
using Packet = std::tuple<std::string, std::uint32_t, std::uint32_t>;  // source, dest_qpn, psn

struct Program {
    std::string name;
    Argv server;
    Argv client;
    std::string port;  // TCP, where the server listens; empty: it listens with rdma_listen
};

// GoogleTest looks for this name.
// NOLINTNEXTLINE(readability-identifier-naming)
void PrintTo(const Program& program, std::ostream* out) {
    *out << program.name;
}

constexpr std::uint32_t psn_bits = 0xffffff;

class Traced : public testing::TestWithParam<Program> {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

std::string folder_of(const std::string& name) {
    const auto folder = support::build_dir() / "trace" / name;
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    return folder.string();
}

Argv traced(const std::string& folder, const std::string& role, const Argv& command) {
    Argv argv{(support::build_dir() / "rocetrace").string(),
              "-o",
              folder + "/" + role + ".jsonl",
              "--role",
              role,
              "--"};
    argv.insert(argv.end(), command.begin(), command.end());
    return argv;
}

bool listens(const Program& program, const std::string& folder) {
    for (int i = 0; i < 300; ++i) {
        if (program.port.empty()) {
            for (const Event& event : support::events_of(folder + "/server.jsonl"))
                if (event.text("call") == "rdma_listen")
                    return true;
        } else if (!support::exec("server", {"ss", "-ltnH", "sport = :" + program.port})
                        .out.empty()) {
            return true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
}

// RC and UC requests; responses are those that READs and atomics caused, and ACKs.
bool is_response(unsigned opcode) {
    const unsigned operation = opcode & 0x1fU;
    return opcode >> 5U != 3 && operation >= 0x0d && operation <= 0x12;
}

struct Log {
    std::set<std::string> addresses;
    std::map<std::uint64_t, std::uint32_t> peers;  // QPN -> dest_qpn
    std::map<std::uint64_t, std::string> types;
    std::set<std::pair<std::uint64_t, std::uint64_t>> failed;  // QPN and request
    std::vector<Event> posts;
};

Log read_log(const std::string& path) {
    Log log;
    for (Event& event : support::events_of(path)) {
        const auto qpn = event.number("qpn").value_or(0);
        std::string gid(event.text("gid"));
        if (event.name == "device" && !gid.empty())
            log.addresses.insert(gid.starts_with("::ffff:") ? gid.substr(7) : gid);
        else if (event.name == "qp")
            log.types[qpn] = event.text("type");
        else if (event.name == "qp_state" && event.number("dest_qpn"))
            log.peers[qpn] = static_cast<std::uint32_t>(*event.number("dest_qpn"));
        else if (event.name == "wc" && event.text("status") != "SUCCESS")
            log.failed.emplace(qpn, event.number("request").value_or(UINT64_MAX));
        else if (event.name == "post_send")
            log.posts.push_back(std::move(event));
    }
    return log;
}

TEST_P(Traced, has_each_request_on_the_wire_and_a_request_for_each_packet) {
    const Program& program = GetParam();
    const std::string folder = folder_of(program.name);
    const std::string capture = folder + "/wire.pcapng";
    support::Process live =
        support::start("server", {support::rocecap(), "live", "-i", "eth0", "-w", capture});
    ASSERT_TRUE(live.await("rocecap: ready", std::chrono::seconds(30)));
    support::Process server = support::start("server", traced(folder, "server", program.server));
    ASSERT_TRUE(listens(program, folder));
    const auto client =
        support::exec("client", traced(folder, "client", program.client), std::chrono::seconds(90));
    EXPECT_EQ(client.exit_code, 0) << client.all();
    server.wait(std::chrono::seconds(30));
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    live.close_input();
    live.wait(std::chrono::seconds(20));

    std::set<Packet> requests;
    std::set<Packet> responses;
    for (const auto& packet : support::tshark_packets(capture))
        if (packet.dest_qpn > 1)
            (is_response(packet.opcode) ? responses : requests)
                .emplace(packet.source, packet.dest_qpn, packet.psn);
    std::set<Packet> caused;
    std::size_t posts = 0;
    for (const std::string role : {"client", "server"}) {
        const Log log = read_log(std::string(folder).append("/").append(role).append(".jsonl"));
        ASSERT_FALSE(log.posts.empty() && log.addresses.empty() && role == "client");
        for (const Event& post : log.posts) {
            const auto qpn = post.number("qpn").value();
            const auto first = post.number("psn_first");
            const auto last = post.number("psn_last");
            if (!first || !last)
                continue;
            ++posts;
            const bool is_ud = log.types.at(qpn) == "UD";
            const auto dest_qpn = static_cast<std::uint32_t>(is_ud ? post.number("dest_qpn").value()
                                                                   : log.peers.at(qpn));
            const bool was_sent = !log.failed.contains({qpn, post.number("request").value()});
            const auto count = ((*last - *first) & psn_bits) + 1;
            // All of a READ's PSNs but the first are seen in its response alone.
            const auto seen = post.text("opcode") == "RDMA_READ" ? 1 : count;
            for (std::uint64_t i = 0; i < seen; ++i) {
                const auto psn = static_cast<std::uint32_t>((*first + i) & psn_bits);
                bool found = false;
                for (const std::string& address : log.addresses) {
                    found |= requests.contains({address, dest_qpn, psn});
                    caused.emplace(address, dest_qpn, psn);
                }
                EXPECT_TRUE(found || !was_sent) << role << ": " << runlog::to_json(post);
            }
        }
    }
    EXPECT_GT(posts, 0U);
    for (const Packet& packet : requests)
        EXPECT_TRUE(caused.contains(packet))
            << std::get<0>(packet) << " to QP " << std::get<1>(packet) << ", PSN "
            << std::get<2>(packet);
}

Program perftest(const std::string& name, const Argv& options) {
    Argv server = options;
    server.insert(server.end(), {"-F"});
    Argv client = server;
    client.push_back(support::server_ip);
    return {name, server, client, "18515"};
}

INSTANTIATE_TEST_SUITE_P(
    Programs, Traced,
    testing::Values(
        perftest("write_bw_rc", {"ib_write_bw", "-x", "1", "-n", "200", "-s", "20000"}),
        perftest("write_bw_uc", {"ib_write_bw", "-x", "1", "-n", "100", "-s", "5000", "-c", "UC"}),
        perftest("send_bw_rc_srq",
                 {"ib_send_bw", "-x", "1", "-n", "100", "-s", "100", "--use-srq"}),
        perftest("send_bw_ud", {"ib_send_bw", "-x", "1", "-n", "200", "-s", "64", "-c", "UD"}),
        perftest("read_lat", {"ib_read_lat", "-x", "1", "-n", "50", "-s", "10000"}),
        perftest("atomic_lat", {"ib_atomic_lat", "-x", "1", "-n", "50"}),
        Program{"rping",
                {"rping", "-s", "-C", "5"},
                {"rping", "-c", "-a", support::server_ip, "-C", "5"},
                ""},
        Program{"ucmatose",
                {"ucmatose", "-C", "10"},
                {"ucmatose", "-s", support::server_ip, "-C", "10"},
                ""},
        Program{"qperf",
                {"qperf"},
                {"qperf", "-t", "1", support::server_ip, "-cm", "1", "rc_rdma_write_lat", "quit"},
                "19765"},
        Program{"ucx_rc_verbs",
                {"ucx_perftest", "-d", "rxe0:1", "-x", "rc_verbs", "-t", "am_lat", "-n", "100",
                 "-w", "1", "-s", "64"},
                {"ucx_perftest", support::server_ip, "-d", "rxe0:1", "-x", "rc_verbs", "-t",
                 "am_lat", "-n", "100", "-w", "1", "-s", "64"},
                "13337"},
        Program{
            "fi_pingpong",
            {"fi_pingpong", "-p", "verbs", "-e", "msg", "-I", "20", "-S", "64"},
            {"fi_pingpong", "-p", "verbs", "-e", "msg", "-I", "20", "-S", "64", support::server_ip},
            "47592"}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace rocetrace_test
