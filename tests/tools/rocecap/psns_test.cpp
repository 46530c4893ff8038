// Runs rocecap psns on synthetic run directories: first PSNs from the log and from the wire, and
// each packet that contains one in readable form.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "net/endpoint.hpp"
#include "runlog/event.hpp"
#include "support/connection_agreement.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"
#include "tools/rocecap/synthetic_run.hpp"
#include "wire/cm_data.hpp"

namespace psns_test {

using nlohmann::json;
using rocecap_test::SyntheticRun;
using wire_test::from_hex;

constexpr std::uint8_t write_first = 0x06;
constexpr std::uint8_t write_last = 0x08;
constexpr std::uint8_t write_only = 0x0a;
constexpr std::uint8_t acknowledge = 0x11;

support::Outcome psns(support::Argv arguments) {
    arguments.insert(arguments.begin(), {support::rocecap(), "psns"});
    return support::run(arguments);
}

std::vector<json> objects(const SyntheticRun& run) {
    const auto outcome = psns({run.path(), "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    std::vector<json> all;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
        all.push_back(json::parse(line));
    return all;
}

std::string text(const SyntheticRun& run) {
    const auto outcome = psns({run.path()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    return outcome.out;
}

auto endpoint(std::uint32_t qpn, std::uint32_t psn) {
    return net::serialize({.qpn = qpn, .psn = psn, .path_mtu = 4096});
}

// The starting PSN in a ConnectRequest or ConnectReply is the first PSN that its receiver sends.
TEST(PsnsCommand, the_connection_manager_announces_what_the_other_side_will_send) {
    SyntheticRun run("cm");
    run.log("server", "cm_event", {{"type", "ESTABLISHED"}});
    run.log("client", "cm_event", {{"type", "ESTABLISHED"}});
    run.log_states(0x54b40du, 0x0deeedu);
    run.cm_message(wire::CmAttribute::ConnectRequest,
                   wire_test::CmData().put(32, "000012").put(44, "54b40d"), false);
    run.cm_message(wire::CmAttribute::ConnectReply,
                   wire_test::CmData().put(12, "000011").put(20, "0deeed"), true);
    run.packet(write_first, 0x0deeed);
    run.packet(write_last, 0x0deeee);
    run.packet(acknowledge, 0x0deeee, true);
    run.keep_capture();
    EXPECT_EQ(
        text(run),
        "run  direction        first PSN  chosen by             readable in\n"
        "cm   client → server  0x0deeed   rdma_cm (the kernel)  ConnectReply (frame 2), BTH of "
        "1 packet\n"
        "cm   server → client  0x54b40d   rdma_cm (the kernel)  ConnectRequest (frame 1)\n");
}

// {first request, PSN of a NAK (0: none), second request, whether the announced PSN is the first one}
struct Begun {
    std::uint32_t first, nak, second;
    bool is_announced;
};

TEST(PsnsCommand, a_requester_need_not_begin_with_what_was_announced) {
    for (const Begun& one : {Begun{0x0deeed, 0, 0x0deeee, true},
                             {0x0deedd, 0, 0x0deede, false},
                             {0x0deedd, 0, 0x0deeed, true},
                             {0x0deefd, 0, 0x0deefe, true},  // the first ones may be missing
                             {0x0deefd, 0x0deeed, 0x0deefd, false},
                             {0x0deefd, 0x0deeed, 0x0deeed, true},
                             {0x0deefd, 0x0deeee, 0x0deefd, true},
                             {0x0ceeec, 0, 0x0ceeed, true}}) {  // farther than any queue is long
        SyntheticRun run("begun");
        run.cm_message(wire::CmAttribute::ConnectRequest,
                       wire_test::CmData().put(32, "000012").put(43, "00").put(44, "54b40d"),
                       false);
        run.cm_message(wire::CmAttribute::ConnectReply,
                       wire_test::CmData().put(4, "00010203").put(12, "000011").put(20, "0deeed"),
                       true);
        run.packet(write_only, one.first);
        if (one.nak != 0)
            run.packet_with(acknowledge, one.nak, true, [](wire::Packet& made) {
                made.aeth = wire::Aeth{.syndrome = 0x60, .msn = 0};
            });
        run.packet(write_only, one.second);
        run.keep_capture();
        const auto all = objects(run);
        ASSERT_EQ(all.size(), 2U);
        EXPECT_EQ(all[0]["first_psn"], one.is_announced ? 0x0deeedU : one.first) << one.first;
        EXPECT_EQ(all[0]["chosen_by"],
                  one.is_announced ? "the connection manager" : "not the connection manager");
        EXPECT_EQ(all[0]["readable"]["connect_reply"].empty(), !one.is_announced);
        if (!one.is_announced) {
            EXPECT_EQ(all[0]["readable"]["bth"][0], 3);
        }
    }
}

TEST(PsnsCommand, an_endpoint_is_found_in_any_tcp_segment) {
    SyntheticRun run("tcp");
    run.log("server", "psn", {{"qpn", 0x11u}, {"psn", 0x5e1f00u}, {"source", "--psn"}});
    run.log("client", "psn", {{"qpn", 0x12u}, {"psn", 0xc11e00u}, {"source", "a die"}});
    run.log_states(0x5e1f00u, 0xc11e00u);
    run.tcp({});
    run.tcp(endpoint(0x12, 0xc11e00));
    auto behind_another = from_hex("52574c58 00");
    std::ranges::copy(endpoint(0x11, 0x5e1f00), std::back_inserter(behind_another));
    run.tcp(behind_another, true);
    run.tcp(endpoint(0x12, 0x5e1f00), true);  // not the server's queue pair
    run.tcp(endpoint(0x12, 0xc11e01));        // not this PSN
    run.packet(write_only, 0xc11e00);
    run.packet(acknowledge, 0xc11e00, true);
    run.keep_capture();
    const auto all = objects(run);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0]["chosen_by"], "a die");
    EXPECT_EQ(all[0]["first_psn"], 0xc11e00);
    EXPECT_EQ(all[0]["readable"], json::parse(R"({"connect_request":[],"connect_reply":[],
                                                  "tcp":[2],"bth":[6,7]})"));
    EXPECT_EQ(all[1]["readable"]["tcp"], json({3}));
    EXPECT_NE(text(run).find("a die      TCP segment (frame 2), BTH of 2 packets\n"),
              std::string::npos)
        << text(run);
}

TEST(PsnsCommand, a_hidden_psn_is_the_first_request_s) {
    SyntheticRun run("hidden");
    for (const char* role : {"server", "client"})
        run.log(role, "psn",
                {{"qpn", role == std::string("server") ? 0x11u : 0x12u},
                 {"psn", "secret"},
                 {"source", "RAND_bytes"}});
    run.log_states("secret", "secret");
    run.tcp(from_hex("17 0303 0004 8d41c2f0"));
    run.packet(acknowledge, 0x777777, true);  // a response does not show the first PSN
    run.packet(write_first, 0xfffffe);
    run.packet(write_last, 0xffffff);
    run.packet(acknowledge, 0xffffff, true);
    run.packet(write_first, 0xfffffe);  // retransmitted
    run.keep_capture();
    EXPECT_EQ(text(run),
              "run     direction        first PSN  chosen by   readable in\n"
              "hidden  client → server  0xfffffe   RAND_bytes  BTH only, from the first packet on "
              "(frames 3, 6)\n"
              "hidden  server → client  secret     RAND_bytes  nowhere in the capture\n");
    const auto all = objects(run);
    EXPECT_EQ(all[0]["hidden"], true);
    EXPECT_EQ(all[0]["first_psn"], 0xfffffe);
    EXPECT_EQ(all[1]["first_psn"], nullptr);
}

TEST(PsnsCommand, a_hidden_psn_that_was_exchanged_in_the_clear_is_shown_as_such) {
    SyntheticRun run("leak");
    run.log_states("secret", "secret");
    run.tcp(endpoint(0x11, 0x5e1f00), true);
    run.keep_capture();
    const auto all = objects(run);
    EXPECT_EQ(all[0]["first_psn"], nullptr);
    EXPECT_EQ(all[1]["first_psn"], 0x5e1f00);
    EXPECT_EQ(all[1]["readable"]["tcp"], json({1}));
}

TEST(PsnsCommand, a_capture_that_begins_within_a_message_shows_no_first_psn) {
    SyntheticRun run("late");
    run.log_states("secret", "secret");
    run.packet(write_last, 0x000005);
    run.packet(write_only, 0x000006);
    run.keep_capture();
    EXPECT_EQ(objects(run)[0]["first_psn"], nullptr);
}

// ibv_query_qp returns the PSN of the next packet.
TEST(PsnsCommand, a_state_asked_for_after_a_request_is_not_taken_for_the_first_psn) {
    SyntheticRun run("later_state");
    run.log("client", "qp_state",
            {{"qpn", 0x12u}, {"state", "RTR"}, {"dest_qpn", 0x11u}, {"sq_psn", 0u}});
    run.log("client", "post_send", {{"qpn", 0x12u}, {"psn_offset_first", 0u}});
    run.log_states(1u, 0x000009u);
    run.packet(write_only, 0x000008);
    run.keep_capture();
    const auto all = objects(run);
    EXPECT_EQ(all[0]["first_psn"], 8);
    EXPECT_EQ(all[0]["chosen_by"], nullptr);
}

TEST(PsnsCommand, runs_of_one_step_are_named_by_their_directories) {
    SyntheticRun run("twice"), other("other");
    for (SyntheticRun* made : {&run, &other})
        made->log_states(1u, 2u);
    const auto outcome = psns({run.path(), run.path() + "/", other.path()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    const std::string name = std::filesystem::path(run.path()).filename().string();
    std::size_t named = 0;
    for (auto at = outcome.out.find("\n" + name + "  "); at != std::string::npos;
         at = outcome.out.find("\n" + name + "  ", at + 1))
        ++named;
    EXPECT_EQ(named, 4U) << outcome.out;
    EXPECT_NE(outcome.out.find("\nother "), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("no capture\n"), std::string::npos) << outcome.out;
}

TEST(PsnsCommand, connections_of_one_run_and_peers_in_no_log_are_told_apart) {
    SyntheticRun run("several");
    run.log_states(1u, 2u);
    run.log("client", "qp_attr",
            {{"qpn", 0x13u}, {"state", "RTS"}, {"dest_qpn", 0x14u}, {"sq_psn", 3u}});
    const std::string out = text(run);
    EXPECT_NE(out.find("several  client → server       0x000002"), std::string::npos) << out;
    EXPECT_NE(out.find("several  client → QP 0x000014  0x000003"), std::string::npos) << out;
}

TEST(PsnsCommand, a_run_without_connections_is_a_row_too) {
    const SyntheticRun run("none");
    EXPECT_NE(text(run).find("\nnone  no connected queue pair\n"), std::string::npos) << text(run);
    EXPECT_TRUE(objects(run).empty());
}

TEST(PsnsCommand, agrees_with_the_other_commands_on_queue_pairs_of_logs) {
    SyntheticRun run("agreed");
    run.log_states(7u, 5u);
    run.packet(write_only, 5);
    run.packet(acknowledge, 5, true);
    run.packet(write_only, 7, true);
    run.packet(acknowledge, 7);
    run.keep_capture();
    EXPECT_EQ(support::expect_connections_agree(
                  run.path() + "/wire.pcapng",
                  {run.path() + "/client.jsonl", run.path() + "/server.jsonl"}),
              1U);
}

TEST(PsnsCommand, says_in_a_sentence_that_a_directory_is_none_of_a_run) {
    const support::TempPath nothing("psns_nothing");
    std::filesystem::create_directories(nothing.str());
    const auto outcome = psns({nothing.str()});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("is not a run directory"), std::string::npos) << outcome.all();
}

}  // namespace psns_test
