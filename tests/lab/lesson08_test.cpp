// Lesson 08 in the lab: each client has its own connection on the wire; a growing number of clients,
// with the lesson's server and with the hardened one.
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lab/lesson08_serving.hpp"

namespace lesson08_test {

using namespace lesson08_serving;

std::string hex_of(const std::string& psn) {
    char text[7];
    std::snprintf(text, sizeof text, "%lx", std::stoul(psn));
    return text;
}

TEST_F(Lesson08, each_client_has_a_queue_pair_psns_and_three_kinds_of_work_of_its_own) {
    const LabRun& run = support::plain_run("08");
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();

    // The client's queue pairs and the server's, in pairs according to the client's log.
    std::map<std::string, std::string> server_of;
    for (const auto& state : LabRun::all(run.client, "qp_state"))
        if (state.text("state") == "RTS")
            server_of[std::to_string(state.number("qpn").value())] =
                std::to_string(state.number("dest_qpn").value());
    ASSERT_EQ(server_of.size(), 3U);
    std::set<std::string> psns;
    for (const auto& [qpn, dest_qpn] : server_of) {
        Strings opcodes;
        std::set<std::string> seen;  // on a busy host, some are retransmitted
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

    // The server drains: on each queue pair, its four unused receives are flushed.
    const auto completions = support::statuses(run.server);
    EXPECT_EQ(std::ranges::count(completions, "SUCCESS"), 3);
    EXPECT_EQ(std::ranges::count(completions, "WR_FLUSH_ERR"), 12);
    Strings states;
    for (const auto& event : LabRun::all(run.server, "qp_state"))
        states.emplace_back(event.text("state"));
    std::ranges::sort(states);
    EXPECT_EQ(states, (Strings{"ERR", "ERR", "ERR", "INIT", "INIT", "INIT", "RTR", "RTR", "RTR",
                               "RTS", "RTS", "RTS"}));
    for (const auto& event : LabRun::all(run.server, "destroyed")) {
        EXPECT_EQ(event.number("receives_outstanding").value_or(0), 0U) << runlog::to_json(event);
    }

    const auto left = LabRun::all(run.server, "client");
    ASSERT_EQ(left.size(), 3U);
    for (const auto& event : left) {
        EXPECT_EQ(event.text("state"), "has left");
        EXPECT_EQ(event.number("sends"), 1U);
        EXPECT_EQ(event.number("send_bytes"), 32U);
    }
    support::expect_every_packet_joined(run);
    EXPECT_EQ(run.info["capture"]["dropped"], 0);
}

TEST_F(Lesson08, who_goes_on_no_more_is_dropped_and_statistics_come_by_themselves) {
    Serving serving("--bind " + support::server_ip + " --idle-time 2 --stats 1");
    support::Process stopped = shell_on_client(
        "echo $$ >/tmp/lesson08.pid; exec " + std::string(client) + " " + support::server_ip +
        " --clients 1 --timeout 3 --operations 100000000 --length 1000");
    ASSERT_TRUE(stopped.await("post_send wr 20", seconds(30)));
    EXPECT_TRUE(serving.says("1 clients (most 1,", seconds(20)));
    support::exec("client", {"bash", "-c", "kill -STOP $(</tmp/lesson08.pid)"});
    EXPECT_TRUE(serving.says("1 lost (closed 0, late 1,", seconds(30)));
    support::exec("client", {"bash", "-c", "kill -CONT $(</tmp/lesson08.pid)"});
    EXPECT_EQ(stopped.wait(seconds(60)).exit_code, 1);
    EXPECT_EQ(one_client().exit_code, 0) << "the next one is served";
    serving.stop();
}

TEST_F(Lesson08, a_server_that_cannot_hold_its_clients_says_so_at_once) {
    const auto outcome =
        support::exec("server", {"bash", "-c", "ulimit -n 1000; exec " + std::string(server)});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("--clients 1000 needs 1544 open files, but only 1000 are allowed"),
              std::string::npos)
        << outcome.err;
}

TEST_F(Lesson08, all_of_a_hundred_clients_are_connected_before_the_first_one_leaves) {
    const std::string before = resources();
    const LabRun run =
        support::read_run(support::run({"lab/lab", "run", "08", "--", "--clients", "100"},
                                       {"CAPTURE_SECONDS=150"}, std::chrono::minutes(3)));
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.err;
    int connected = 0;
    int most = 0;
    int left = 0;
    for (const auto& event : run.server) {
        connected += event.name == "qp_state" && event.text("state") == "RTS" ? 1 : 0;
        if (event.name == "client") {
            EXPECT_EQ(event.text("state"), "has left");
            --connected;
            ++left;
        }
        most = std::max(most, connected);
    }
    EXPECT_EQ(most, 100);
    EXPECT_EQ(left, 100);
    EXPECT_EQ(resources(), before);
}

// A client of the lesson's server that is killed: its requests do not stay in the device, and the
// others are served.
TEST_F(Lesson08, the_lessons_server_drains_a_client_that_is_killed) {
    const std::string before = resources();
    const std::string folder = "build/examples/08_secure_multi_client/";
    support::Process server =
        support::start("server", {"bash", "-c",
                                  "echo $$ >/tmp/lesson08.pid; exec " + folder +
                                      "server --run-log - --bind " + support::server_ip});
    ASSERT_TRUE(server.await("listening on", seconds(30)));
    const std::string listening = resources();
    support::Process killed =
        shell_on_client("echo $$ >/tmp/lesson08.pid; exec " + folder + "client " +
                        support::server_ip + " --clients 2 --operations 1000000");
    ASSERT_TRUE(killed.await("post_send wr 20", seconds(30)));
    support::exec("client", {"bash", "-c", "kill -KILL $(</tmp/lesson08.pid)"});
    ASSERT_TRUE(server.await("client 2 from", seconds(30)));
    const auto next = support::exec("client", {folder + "client", support::server_ip});
    EXPECT_EQ(next.exit_code, 0) << next.all();
    EXPECT_EQ(resources(), listening);
    support::exec("server", {"bash", "-c", "kill -TERM $(</tmp/lesson08.pid)"});
    const auto outcome = server.wait(seconds(30));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(resources(), before);
}

// make bench-clients also measures 1,000 clients, which takes minutes under emulation.
TEST_F(Lesson08, a_crowd_of_ten_and_of_a_hundred_is_served_and_nothing_is_left) {
    const std::string before = resources();
    std::uint64_t memory_of_ten = 0;
    for (const std::string clients : {"10", "100"}) {
        Serving serving("--bind " + support::server_ip);
        const auto outcome =
            support::exec("client", {client, support::server_ip, "--clients", clients});
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        EXPECT_TRUE(serving.tells("0 clients (most " + clients));
        const auto log = serving.stop();
        const auto all_stats = LabRun::all(log, "stats");
        const auto* setup = LabRun::find(log, "setup");
        ASSERT_FALSE(all_stats.empty());
        ASSERT_NE(setup, nullptr);
        const auto& stats = all_stats.back();
        EXPECT_EQ(std::to_string(stats.number("most").value()), clients) << "not all at once";
        EXPECT_EQ(stats.number("lost"), 0U);
        EXPECT_EQ(stats.number("sends"), stats.number("most"));
        EXPECT_EQ(stats.number("told_write_bytes"), stats.number("most").value() * 10'000U);
        EXPECT_EQ(stats.number("told_read_bytes"), stats.number("most").value() * 10'000U);
        EXPECT_EQ(setup->number("clients"), stats.number("most"));
        const std::uint64_t memory = stats.number("memory_a_client").value();
        std::cout << runlog::to_text(*setup) << "; " << memory << " B a client at the server\n";
        // The memory that does not grow with the clients is divided by ten times as many clients.
        if (memory_of_ten == 0)
            memory_of_ten = memory;
        else
            EXPECT_LT(memory, memory_of_ten);
    }
    EXPECT_EQ(resources(), before);
}

}  // namespace lesson08_test
