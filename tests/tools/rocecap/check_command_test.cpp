// Runs rocecap check on synthetic run directories.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/rocecap/check_run.hpp"
#include "util/style.hpp"

namespace check_command_test {

using namespace check_run;

void lose_and_recover(LinkRun& run) {
    run.lose(write_part(0, 0, 3));
    run.pass(write_part(0, 1, 3));
    run.pass(write_part(0, 2, 3));
    run.pass(nak(0, 0));
    for (std::uint32_t i = 0; i < 3; ++i)
        run.pass(write_part(0, i, 3));
    run.pass(acknowledge(2, 1));
}

TEST(CheckCommand, tells_how_a_loss_was_recovered_from) {
    LinkRun run("loss");
    lose_and_recover(run);
    run.tell({{"sent_pkts", 16}, {"rcvd_pkts", 13}, {"completer_retry_err", 1}});
    const auto outcome = run.check();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(outcome.err, "");
    EXPECT_TRUE(has(outcome,
                    "#1  client 192.0.2.1 qp 0x22 ↔ server 192.0.2.2 qp 0x11  path MTU 1024\n"
                    "    as specified    requests of client 192.0.2.1: 6, 3 of them retransmitted; "
                    "2 responses\n"
                    "                    on the link: 1 lost\n"))
        << outcome.out;
    EXPECT_TRUE(has(outcome,
                    "      1  lost      RDMA WRITE First     0x000000  NAK              "
                    "15 µs      5 µs  as specified\n"))
        << outcome.out;
    EXPECT_TRUE(has(outcome, "link: drop psn 0 once\n")) << outcome.out;
    EXPECT_TRUE(has(outcome, "  1 by NAK; detected in 15 µs p50, 15 µs max; reacted in 5 µs"))
        << outcome.out;
    EXPECT_TRUE(has(outcome, "No deviation from the specification.\n")) << outcome.out;
    EXPECT_TRUE(has(outcome, "  client    sent_pkts                          6           6\n"))
        << outcome.out;
    EXPECT_TRUE(
        has(outcome, "  client    rcvd_pkts                          3           2  differs\n"))
        << outcome.out;
}

TEST(CheckCommand, lines_have_at_most_100_columns) {
    LinkRun run("width");
    lose_and_recover(run);
    run.pass(acknowledge(99, 77));
    const auto outcome = run.check({"--color", "never"});
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(util::display_width(line), 100U) << line;
}

TEST(CheckCommand, a_recovery_after_the_end_of_the_capture_is_undetermined) {
    LinkRun run("undetermined");
    run.pass(write_part(0, 0, 3));
    run.pass(write_part(0, 1, 3));
    run.lose(write_part(0, 2, 3));
    const auto outcome = run.check();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(
        has(outcome,
            "  frame  event     packet               PSN       recovered     detected   "
            "reacted  verdict\n"
            "      5  lost      RDMA WRITE Last      0x000002  undetermined         -        "
            " -  undetermined\n"))
        << outcome.out;
    const json recovery = json::parse(run.check({"--json"}).out)["recoveries"][0];
    EXPECT_EQ(recovery["recovered"], "undetermined");
    EXPECT_EQ(recovery["verdict"], "undetermined");
}

TEST(CheckCommand, ends_with_1_where_something_deviates) {
    LinkRun run("deviation");
    run.pass(send_one(0));
    const auto wrong = run.pass(acknowledge(3, 1));
    const auto outcome = run.check();
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_TRUE(has(outcome, "    1 deviation     requests of 192.0.2.1: 1; 1 response\n"))
        << outcome.out;
    EXPECT_TRUE(
        has(outcome,
            "      " + std::to_string(wrong) +
                "  ack-beyond                #1  192.0.2.2 as responder; IBTA volume 1, 9.7.5.1\n"))
        << outcome.out;
}

TEST(CheckCommand, tells_programs_the_same) {
    LinkRun run("json");
    lose_and_recover(run);
    const auto wrong = run.pass(acknowledge(9, 1));
    run.tell({{"sent_pkts", 16}, {"rcvd_pkts", 13}, {"completer_retry_err", 1}});
    const auto outcome = run.check({"--json"});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    const json object = json::parse(outcome.out);
    ASSERT_EQ(object["connections"].size(), 1U);
    EXPECT_EQ(object["connections"][0]["from_name"], "client 192.0.2.1");
    EXPECT_EQ(object["connections"][0]["forward"]["lost"], 1);
    EXPECT_EQ(object["connections"][0]["forward"]["first_psn_is_told"], true);
    EXPECT_EQ(object["connections"][0]["paired_by"], "run log");
    ASSERT_EQ(object["recoveries"].size(), 1U);
    const json& recovery = object["recoveries"][0];
    EXPECT_EQ(recovery["event"], "lost");
    EXPECT_EQ(recovery["rule"], "drop psn 0 once");
    EXPECT_EQ(recovery["predicted"], "NAK");
    EXPECT_EQ(recovery["seen"], "NAK");
    EXPECT_EQ(recovery["verdict"], "as specified");
    EXPECT_EQ(recovery["reaction_ns"], 5000);
    EXPECT_EQ(recovery["resend"]["packets"], 3);
    ASSERT_EQ(object["deviations"].size(), 1U);
    EXPECT_EQ(object["deviations"][0]["code"], "ack-beyond");
    EXPECT_EQ(object["deviations"][0]["frame"], wrong);
    EXPECT_EQ(object["deviations"][0]["who"], "server 192.0.2.2 as responder");
    EXPECT_EQ(object["counters"].size(), 3U);
}

// The client's own interface lost the request with PSN 1, so that it is on neither side of the
// link.
void leave_a_psn_out(LinkRun& run) {
    run.pass(send_one(0));
    run.pass(acknowledge(0, 1));
    run.pass(send_one(2));
    run.pass(nak(1, 1));
    run.pass(send_one(1));
    run.pass(send_one(2));
    run.pass(acknowledge(2, 3));
}

void record_netem(const LinkRun& run, const std::string& netem) {
    std::ofstream(run.path() + "/run.json")
        << json{{"hosts", {{"client", {{"address", "192.0.2.1"}, {"netem", netem}}}}}};
}

TEST(CheckCommand, does_not_judge_what_a_packet_lost_by_netem_explains) {
    LinkRun run("netem");
    leave_a_psn_out(run);
    EXPECT_EQ(run.check().exit_code, 1);
    record_netem(run, "delay 2ms");
    EXPECT_EQ(run.check().exit_code, 1);
    record_netem(run, "loss 5%");
    const auto outcome = run.check();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(has(outcome, "    cannot be judged  requests of client 192.0.2.1: 4"))
        << outcome.out;
    EXPECT_TRUE(has(outcome, "\nCannot be judged\n")) << outcome.out;
    EXPECT_TRUE(has(outcome, "      1  psn-skipped               IBTA volume 1, 9.7.3.1\n"))
        << outcome.out;
    EXPECT_TRUE(has(outcome, "No deviation from the specification in what can be judged.\n"))
        << outcome.out;
}

TEST(CheckCommand, takes_the_same_from_an_option) {
    LinkRun run("lossy");
    leave_a_psn_out(run);
    const auto outcome = run.check({"--lossy", "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    const json object = json::parse(outcome.out);
    EXPECT_EQ(object["deviations"].size(), 0U);
    EXPECT_EQ(object["cannot_be_judged"], (json{{"psn-skipped", 1}}));
    EXPECT_EQ(object["connections"][0]["forward"]["cannot_be_judged"], 1);
}

TEST(CheckCommand, lists_40_recoveries_or_all) {
    LinkRun run("many");
    for (std::uint32_t psn = 0; psn < 42; ++psn) {
        run.pass(send_one(psn));
        run.lose(acknowledge(psn, psn + 1));
    }
    EXPECT_TRUE(has(run.check(), "  ... and 2 more recoveries: --all lists them\n"));
    EXPECT_FALSE(has(run.check({"--all"}), "more recoveries"));
}

TEST(CheckCommand, says_why_it_cannot_run) {
    EXPECT_EQ(support::run({support::rocecap(), "check", "/nonexistent"}).err,
              "rocecap: cannot open '/nonexistent': No such file or directory.\n");
    const support::TempPath empty("check_empty");
    std::filesystem::create_directories(empty.str());
    EXPECT_EQ(
        support::run({support::rocecap(), "check", empty.str()}).err,
        "rocecap: " + empty.str() +
            " has no capture: neither wire.pcapng nor annotated.pcapng is in this directory.\n");
    LinkRun run("nothing");
    const auto outcome = run.check();
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.err, "rocecap: '" + run.link_capture() +
                               "' has no packet of a reliable connection (RC).\n");
}

TEST(CheckCommand, needs_both_sides_of_the_link_and_no_other_place) {
    const auto outcome_of = [](std::initializer_list<const char*> interfaces) {
        const support::TempPath capture("check_sides.pcapng");
        capture::PcapngWriter out(capture::Sink::create(capture.str()), {});
        for (const char* interface : interfaces) {
            const auto frame = wire::encode(acknowledge(0, 1));
            out.packet(out.add_interface(named(interface)),
                       {.time = capture::Time(1),
                        .bytes = frame,
                        .original_length = static_cast<std::uint32_t>(frame.size())});
        }
        out.close();
        auto outcome = support::run({support::rocecap(), "check", capture.str()});
        const auto name = outcome.err.find(capture.str());
        if (name != std::string::npos)
            outcome.err.replace(name, capture.str().size(), "FILE");
        return outcome;
    };
    const auto other = outcome_of({"before", "after", "eth0"});
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_EQ(other.err,
              "rocecap: 'FILE' has interfaces other than 'before' and 'after' the link, so where "
              "they captured is unknown: choose one with --interface.\n");
    const auto one = outcome_of({"after"});
    EXPECT_EQ(one.exit_code, 2);
    EXPECT_EQ(one.err,
              "rocecap: 'FILE' has only one side of the link: interface 'before' is missing.\n");
}

TEST(CheckCommand, does_not_compare_a_counter_that_was_reset) {
    LinkRun run("reset");
    run.pass(send_one(0));
    run.pass(acknowledge(0, 1));
    run.tell({{"sent_pkts", 3}, {"rcvd_pkts", 11}, {"completer_retry_err", 0}});
    const auto outcome = run.check({"--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(outcome.err,
              "rocecap: run.json: the counter 'sent_pkts' of 'client' was reset during the run, so "
              "it is not compared.\n");
    const json counters = json::parse(outcome.out)["counters"];
    ASSERT_EQ(counters.size(), 2U) << counters;
    EXPECT_EQ(counters[0]["counter"], "rcvd_pkts");
    EXPECT_EQ(counters[0]["counted"], 1);
}

TEST(CheckCommand, refuses_a_counter_that_is_no_count) {
    for (const json& value : {json(13.5), json(-1), json("13"), json(1e30)}) {
        LinkRun run("no_count");
        run.pass(send_one(0));
        run.tell({{"sent_pkts", 11}, {"rcvd_pkts", value}, {"completer_retry_err", 0}});
        const auto outcome = run.check();
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_EQ(outcome.err,
                  "rocecap: run.json: the counter 'rcvd_pkts' of 'client' is not a whole number of "
                  "0 or more.\n");
    }
}

}  // namespace check_command_test
