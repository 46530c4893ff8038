// Captures, run logs and run.json that are broken, of another program or of another run: what the
// commands say of them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/tool.hpp"
#include "tools/rocecap/written_run.hpp"

namespace broken_trace_test {

using namespace written_run;
using support::rocecap;

const std::vector<support::Argv> readers_of_runs{
    {"timeline"}, {"annotate", "-o", "-"}, {"report", "-o", "-"}, {"psns"}, {"explain"}, {"check"},
    {"predict"}};

TEST(TraceArguments, a_broken_run_json_is_the_same_sentence_in_each_command) {
    const Written run("trace_broken");
    for (const char* text : {"{", "[]", "1e999"}) {
        std::ofstream(run.path() + "/run.json") << text;
        for (const support::Argv& command : readers_of_runs) {
            const auto outcome = rocecap(command + support::Argv{run.path()});
            EXPECT_EQ(outcome.exit_code, 2) << command[0];
            EXPECT_EQ(outcome.out, "") << command[0];
            EXPECT_EQ(outcome.err, "rocecap: " + run.path() + "/run.json is not readable JSON.\n");
        }
    }
}

TEST(TraceArguments, a_run_json_whose_values_have_other_types_has_no_values) {
    const Written run("trace_types");
    for (const char* text :
         {R"({"ended":1,"step":{},"hosts":[],"clock":[],"link":7,"capture":"x"})",
          R"({"ended":1,"hosts":{"server":{"address":1,"port":"a","device":{},"counters":[3]},
              "client":[],"client2":null},"clock":{"server":{"offset_s":"0"}}})"}) {
        std::ofstream(run.path() + "/run.json") << text;
        for (const support::Argv& command : readers_of_runs) {
            const auto outcome = rocecap(command + support::Argv{run.path()});
            EXPECT_NE(outcome.exit_code, 2) << command[0] << ": " << outcome.err;
            EXPECT_EQ(outcome.err.find("json"), std::string::npos) << outcome.err;
        }
    }
}

TEST(TraceArguments, a_log_s_role_cannot_drive_the_terminal) {
    const Written run("trace_escape");
    const std::string log = new_log(run, "x.jsonl",
                                    R"({"t_ns":1,"role":"a\u001b[31mb","event":"note","text":"c"})"
                                    "\n");
    const auto outcome = rocecap({"timeline", run.wire(), "--log", log});
    EXPECT_TRUE(has(outcome.out, "a\\x1b[31mb")) << outcome.out;
    EXPECT_FALSE(has(outcome.out, "\x1b"));
}

TEST(TraceArguments, fields_and_events_of_other_programs_are_passed_over) {
    const Written run("trace_unknown");
    std::ofstream(run.log_of("client"), std::ios::app)
        << R"({"t_ns":2,"role":"client","event":"strange","pid":7,"tid":8,"list":[1,{"a":2}]})"
        << '\n';
    const auto outcome = rocecap(support::Argv{"timeline", run.wire()} + run.both_logs());
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(has(outcome.out, "strange    pid=7 tid=8\n")) << outcome.out;
    EXPECT_TRUE(has(outcome.out, "← client wr 7")) << outcome.out;
}

TEST(TraceArguments, what_has_no_roce_is_said_in_a_sentence) {
    SyntheticRun run("trace_tcp");
    run.tcp({});
    run.keep_capture();
    const std::string wire = run.path() + "/wire.pcapng";
    for (const support::Argv& command : {support::Argv{"timeline", wire},
                                         {"psns", wire},
                                         {"report", wire, "-o", "-"},
                                         {"annotate", wire, "-o", "-"},
                                         {"predict", wire}}) {
        const auto outcome = rocecap(command);
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_TRUE(has(outcome.err, "has no RoCE packet: none of its 1 packets has UDP port 4791"))
            << outcome.all();
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    }
    const auto with_log = rocecap({"timeline", wire, "--log", run.path() + "/client.jsonl"});
    EXPECT_EQ(with_log.exit_code, 0) << with_log.all();
    EXPECT_TRUE(has(with_log.err, "has no RoCE packet")) << with_log.err;
    EXPECT_TRUE(has(with_log.out, "client           device")) << with_log.out;
}

TEST(TraceArguments, what_is_no_capture_or_no_log_is_named) {
    const Written run("trace_wrong");
    const auto says = [](const support::Argv& arguments, const std::string& text) {
        const auto outcome = rocecap(arguments);
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_TRUE(has(outcome.err, text)) << outcome.err;
        EXPECT_EQ(outcome.out, "");
    };
    says({"timeline", run.log_of("client")}, "is a run log: give the capture, and the log with");
    says({"timeline", run.path() + "/run.json"}, "it is not a pcap or pcapng capture");
    says({"timeline", "/nowhere.pcap"}, "cannot open '/nowhere.pcap': No such file or directory.");
    says({"timeline", run.wire(), "--log", "/nowhere.jsonl"},
         "cannot open '/nowhere.jsonl': No such file or directory.");
    const std::string other = new_log(run, "notes.txt", "hello\n{\"a\":1}\n");
    says({"timeline", run.wire(), "--log", other}, "'" + other + "' is not a run log: ");
    says({"psns", run.wire(), "--log", run.wire()}, "is not a run log: ");
    says({"timeline", "-"}, "'-' is not a regular file: a capture is read several times");
    says({"psns", run.wire(), run.path(), "--log", run.log_of("client")},
         "--log needs a single capture");
    says({"timeline", "--follow", run.wire()}, "is not a run directory: --follow needs");
}

TEST(TraceArguments, an_empty_log_and_one_of_another_run_are_warnings) {
    const Written run("trace_warnings");
    const std::string empty = new_log(run, "empty.jsonl", "");
    const Written other("trace_other");
    const std::string foreign = new_log(
        run, "foreign.jsonl",
        R"({"t_ns":1,"role":"other","event":"device","gid":"::ffff:192.0.2.2"})"
        "\n"
        R"({"t_ns":2,"role":"other","event":"qp_state","qpn":18,"state":"RTS","dest_qpn":17})"
        "\n"
        R"({"t_ns":3,"role":"other","event":"post_send","qpn":18,"wr_id":1,"psn_first":5,"psn_last":5})"
        "\n");
    const auto outcome = rocecap(
        support::Argv{"timeline", run.wire(), "--log", empty, "--log", foreign} + run.both_logs());
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(has(outcome.err, "'" + empty + "' is empty.\n")) << outcome.err;
    EXPECT_TRUE(has(outcome.err,
                    "rocecap: the capture has no packet of other's queue pairs: is "
                    "its log from another run?\n"))
        << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 2) << outcome.err;
    EXPECT_TRUE(has(outcome.out, "← client wr 7, 1 of 2")) << outcome.out;
}

// Causes from the packets of one run and the requests of another one would all be wrong.
TEST(TraceArguments, explain_rejects_a_log_of_another_run_at_another_time) {
    const Written run("trace_other_time");
    const std::string log = new_log(
        run, "other.jsonl",
        R"({"t_ns":7300000000000,"role":"peer","event":"qp_state","qpn":18,"state":"RTS","sq_psn":9})"
        "\n");
    const auto outcome =
        rocecap(support::Argv{"explain", run.wire(), "--log", log} + run.both_logs());
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "rocecap: '" + log +
                               "' is of another run than the capture: it begins 2 hours after it, "
                               "and the capture has no packet of its queue pairs. Give the logs of "
                               "the same run, or none.\n");
}

TEST(TraceArguments, explain_tells_the_time_between_two_runs_in_two_of_a_unit_at_least) {
    const Written run("trace_distance");
    constexpr std::int64_t second = 1'000'000'000;
    constexpr std::int64_t end = second + 4'000;  // of the capture
    const auto distance = [&](std::int64_t ns) {
        const std::string log = new_log(
            run, "other.jsonl",
            fmt::format(
                R"({{"t_ns":{},"role":"peer","event":"qp_state","qpn":18,"state":"RTS","sq_psn":9}})"
                "\n",
                end + ns));
        const auto err =
            rocecap(support::Argv{"explain", run.wire(), "--log", log} + run.both_logs()).err;
        const auto begin = err.find("it begins ");
        return begin == std::string::npos ? err
                                          : err.substr(begin + 10, err.find(" after") - begin - 10);
    };
    EXPECT_EQ(distance(11 * second), "11 seconds");
    EXPECT_EQ(distance(120 * second - 1), "119 seconds");
    EXPECT_EQ(distance(120 * second), "2 minutes");
    EXPECT_EQ(distance(7'200 * second - 1), "119 minutes");
    EXPECT_EQ(distance(172'800 * second - 1), "47 hours");
    EXPECT_EQ(distance(172'800 * second), "2 days");
}

// A file and a run's directory; output goes to files where the command has no other.
TEST(TraceArguments, a_cut_capture_has_results_and_status_2_with_every_command) {
    const Written run("trace_cut");
    std::filesystem::resize_file(run.wire(), std::filesystem::file_size(run.wire()) - 3);
    for (const std::string& path : {run.wire(), run.path()})
        for (const support::Argv& arguments : {support::Argv{"decode"},
                                               {"flows"},
                                               {"verify"},
                                               {"check"},
                                               {"explain"},
                                               {"timeline"},
                                               {"psns"},
                                               {"predict"},
                                               {"annotate", "-o", "-"},
                                               {"report", "-o", "-"}}) {
            support::Argv argv = arguments;
            argv.insert(argv.begin() + 1, path);
            const auto outcome = rocecap(argv);
            EXPECT_EQ(outcome.exit_code, 2) << arguments.front() << '\n' << outcome.err;
            EXPECT_GT(outcome.out.size(), 20U) << arguments.front();
            EXPECT_TRUE(
                has(outcome.err, run.wire() + "' ends inside the block that begins at byte"))
                << arguments.front() << '\n'
                << outcome.err;
        }
}

}  // namespace broken_trace_test
