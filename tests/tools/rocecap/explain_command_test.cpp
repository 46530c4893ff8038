// Runs rocecap explain on synthetic runs and captures.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/rocecap/synthetic_run.hpp"

namespace explain_command_test {

using nlohmann::json;
using rocecap_test::SyntheticRun;

constexpr std::uint8_t send_only = 0x04;
constexpr std::uint8_t acknowledge = 0x11;
constexpr std::uint8_t ack = 0x1f;
constexpr std::uint8_t access_error = 0x62;

class ExplainCommand : public testing::Test {
  protected:
    void send(std::uint32_t psn) { run_.packet(send_only, psn); }
    void respond(std::uint32_t psn, std::uint8_t syndrome) {
        run_.packet_with(acknowledge, psn, true, [&](wire::Packet& packet) {
            packet.aeth = wire::Aeth{.syndrome = syndrome, .msn = 1};
        });
    }
    /// A request with a response, and three copies of one without.
    void falls_silent() {
        send(100);
        respond(100, ack);
        for (int copy = 0; copy < 3; ++copy)
            send(101);
    }
    std::string capture() const { return run_.path() + "/wire.pcapng"; }
    std::string log(const std::string& role) const { return run_.path() + "/" + role + ".jsonl"; }
    static support::Outcome explain(support::Argv arguments) {
        arguments.insert(arguments.begin(), {support::rocecap(), "explain"});
        return support::run(arguments);
    }
    /// Returns the name of the first cause; empty: none.
    static std::string first_cause(support::Argv arguments) {
        arguments.emplace_back("--json");
        const auto outcome = explain(std::move(arguments));
        const json causes = json::parse(outcome.out)["causes"];
        return causes.empty() ? std::string()
                              : causes[0]["code"].get<std::string>() + ' ' +
                                    causes[0]["certainty"].get<std::string>();
    }

    SyntheticRun run_{testing::UnitTest::GetInstance()->current_test_info()->name()};
};

TEST_F(ExplainCommand, exits_with_0_if_nothing_failed) {
    send(100);
    respond(100, ack);
    run_.keep_capture();
    const auto outcome = explain({run_.path()});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out, "No failure and no slowdown found in 2 RoCE packets and 2 run logs.\n");
    EXPECT_EQ(outcome.err, "");
}

TEST_F(ExplainCommand, exits_with_1_if_something_failed) {
    send(100);
    respond(100, ack);
    run_.packet(0x0a, 101);
    respond(101, access_error);
    run_.keep_capture();
    const auto outcome = explain({capture()});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out, R"(1. remote-access (certain)  192.0.2.2 → 192.0.2.1, QP 0x000011
   The responder refused the access to its memory. Only its run log shows which of rkey, bounds,
   rights, registration and protection domain is wrong.
   frame 3           0.000002  RC RDMA WRITE Only  PSN 0x000065
                               va 0x7f00112233445566 rkey 0xdeadbeef, 66051 B
   frame 4           0.000003  RC Acknowledge  PSN 0x000065  NAK: Remote Access Error
   Try: Compare rkey, address, length and rights of the request with the responder's memory regions;
   its run log (--log) shows which of them is wrong.
)");
    EXPECT_EQ(outcome.err, "");
}

TEST_F(ExplainCommand, prints_one_json_object) {
    send(100);
    respond(100, access_error);
    run_.keep_capture();
    const auto outcome = explain({capture(), "--json"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 1);
    EXPECT_TRUE(outcome.out.ends_with("}\n"));
    const json made = json::parse(outcome.out);
    EXPECT_EQ(made["failed"], true) << outcome.out;
    EXPECT_EQ(made["causes"], json::array()) << outcome.out;
}

TEST_F(ExplainCommand, takes_the_server_for_the_place_of_a_runs_capture) {
    falls_silent();
    run_.keep_capture();
    EXPECT_EQ(first_cause({run_.path()}), "peer-gone likely");
    EXPECT_EQ(first_cause({run_.path(), "--at", "192.0.2.2"}), "peer-gone possible");
}

TEST_F(ExplainCommand, takes_the_place_of_a_capture_from_an_option) {
    falls_silent();
    run_.keep_capture();
    EXPECT_EQ(first_cause({capture()}), "peer-gone possible");
    EXPECT_EQ(first_cause({capture(), "--at", "192.0.2.1"}), "peer-gone likely");
    EXPECT_EQ(first_cause({capture(), "--at", "192.0.2.2"}), "peer-gone possible");
}

TEST_F(ExplainCommand, refuses_a_place_that_is_no_address) {
    send(100);
    run_.keep_capture();
    const auto outcome = explain({capture(), "--at", "server"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.err, "rocecap: --at: 'server' is not an IPv4 or IPv6 address.\n");
    EXPECT_EQ(outcome.out, "");
}

TEST_F(ExplainCommand, names_the_hosts_of_a_run_without_logs) {
    falls_silent();
    run_.keep_capture();
    for (const char* role : {"server", "client"})
        std::filesystem::remove(log(role));
    const auto outcome = explain({run_.path()});
    EXPECT_NE(outcome.out.find("1. peer-gone (likely)  client → server, QP 0x000011\n"),
              std::string::npos)
        << outcome.all();
}

TEST_F(ExplainCommand, does_not_read_the_log_of_the_link_emulator) {
    run_.log("link", "drop", {{"rule", 1u}, {"text", "drop psn 0"}, {"frame", 1u}});
    send(100);
    respond(100, ack);
    run_.keep_capture();
    EXPECT_EQ(explain({run_.path()}).out,
              "No failure and no slowdown found in 2 RoCE packets and 2 run logs.\n");
}

TEST_F(ExplainCommand, reads_the_logs_that_are_given) {
    run_.log("client", "async", {{"type", "CQ_ERR"}});
    send(100);
    respond(100, ack);
    run_.keep_capture();
    EXPECT_EQ(first_cause({capture()}), "");
    EXPECT_EQ(first_cause({capture(), "--log", log("client")}), "cq-overrun certain");
}

// The client has two connections to the server, with the same PSNs.
TEST_F(ExplainCommand, takes_the_pairs_of_queue_pairs_from_the_logs) {
    for (const auto& [qpn, peer] : {std::pair{0x12u, 0x11u}, std::pair{0x14u, 0x13u}})
        run_.log("client", "qp_state",
                 {{"qpn", qpn}, {"state", "RTS"}, {"dest_qpn", peer}, {"sq_psn", 100u}});
    for (const std::uint32_t qpn : {0x11U, 0x13U})
        run_.packet_with(0x0a, 100, false,
                         [&](wire::Packet& packet) { packet.bth->dest_qpn = qpn; });
    run_.packet_with(acknowledge, 100, true, [&](wire::Packet& packet) {
        packet.bth->dest_qpn = 0x14;
        packet.aeth = wire::Aeth{.syndrome = access_error, .msn = 1};
    });
    run_.keep_capture();
    const auto outcome = explain({capture(), "--log", log("client")});
    EXPECT_NE(outcome.out.find("1. remote-access (certain)  client → 192.0.2.1, QP 0x000013\n"),
              std::string::npos)
        << outcome.all();
    EXPECT_EQ(outcome.out.find("2. "), std::string::npos) << outcome.all();
}

TEST_F(ExplainCommand, explains_logs_without_a_capture) {
    run_.log("client", "async", {{"type", "PORT_ERR"}});
    const auto outcome = explain({run_.path()});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out, R"(Something failed, and the cause is unknown. What shows the failure:
   client     00:00:00.000000  async     PORT_ERR
  A capture gives more evidence: run rocecap live -w, then rocecap explain.
)");
}

TEST_F(ExplainCommand, says_that_a_capture_has_no_roce) {
    run_.tcp({});
    run_.keep_capture();
    const auto alone = explain({capture()});
    EXPECT_EQ(alone.exit_code, 2);
    EXPECT_TRUE(alone.err.starts_with("rocecap: '" + capture() +
                                      "' has no RoCE packet: none of its 1 packets has"))
        << alone.err;
    run_.log("client", "async", {{"type", "CQ_ERR"}});
    const auto with_log = explain({capture(), "--log", log("client")});
    EXPECT_EQ(with_log.exit_code, 1);
    EXPECT_EQ(with_log.err, alone.err);
    EXPECT_TRUE(with_log.out.starts_with("1. cq-overrun (certain)  client\n")) << with_log.out;
}

TEST_F(ExplainCommand, explains_what_a_damaged_capture_has) {
    send(100);
    respond(100, access_error);
    send(102);
    run_.keep_capture();
    std::filesystem::resize_file(capture(), std::filesystem::file_size(capture()) - 10);
    const auto outcome = explain({capture()});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_TRUE(outcome.out.starts_with("Something failed, and the cause is unknown."))
        << outcome.out;
    EXPECT_TRUE(outcome.err.starts_with("rocecap: '" + capture() + "' ends inside the block"))
        << outcome.err;
}

TEST_F(ExplainCommand, colours_only_where_asked_for) {
    run_.log("client", "async", {{"type", "CQ_ERR"}});
    EXPECT_EQ(explain({run_.path()}).out.find('\033'), std::string::npos);
    EXPECT_NE(explain({run_.path(), "--color", "always"}).out.find('\033'), std::string::npos);
}

// Its log is beside the run, or given with --log.
TEST_F(ExplainCommand, names_the_rule_of_the_link_emulator) {
    falls_silent();
    run_.keep_capture();
    std::ofstream(run_.path() + "/link.jsonl")
        << R"({"t_ns":1,"role":"link","event":"duplicate","rule":1,"text":"duplicate it",)"
           R"("from":"client","to":"server","frame":1,"opcode_name":"RC SEND Only",)"
           R"("dest_qpn":17,"psn":101})"
           "\n";
    const auto outcome = explain({run_.path()});
    EXPECT_EQ(outcome.exit_code, 1);
    const std::string rule = "Rule 1 of the link emulator, `duplicate it`, did it";
    const auto without_breaks = [](std::string text) {
        std::ranges::replace(text, '\n', ' ');
        for (std::size_t at = 0; (at = text.find("  ", at)) != std::string::npos;)
            text.erase(at, 1);
        return text;
    };
    EXPECT_NE(without_breaks(outcome.out).find(rule), std::string::npos) << outcome.out;
    const auto given = explain({capture(), "--log", log("server"), "--log", log("client"), "--log",
                                run_.path() + "/link.jsonl"});
    EXPECT_NE(without_breaks(given.out).find(rule), std::string::npos) << given.out;
}

}  // namespace explain_command_test
