// Runs rocecap timeline on a finished run, on a run in progress, and on input that is not a run.
#include <array>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"
#include "tools/rocecap/synthetic_run.hpp"

namespace timeline_test {

using namespace std::chrono_literals;

class TimelineCommand : public testing::Test {
  protected:
    TimelineCommand() { std::filesystem::create_directories(path_); }

    void append(const std::string& name, const std::string& text) const {
        std::ofstream(path_ + "/" + name, std::ios::app) << text;
    }
    void log(const std::string& role, int t_ns, const std::string& text) const {
        append(role + ".jsonl", R"({"t_ns":)" + std::to_string(t_ns) + R"(,"role":")" + role +
                                    R"(","event":"note","text":")" + text + "\"}\n");
    }
    // Replaces the file atomically, as the lab does.
    void replace(const std::string& name, const std::string& text) const {
        append(name + ".new", text);
        std::filesystem::rename(path_ + "/" + name + ".new", path_ + "/" + name);
    }

    support::TempPath temp_{"timeline_command"};
    std::string path_ = temp_.str();
};

TEST_F(TimelineCommand, lists_a_run_in_order_of_time_and_sums_it_up) {
    replace("run.json", R"({"ended":"yes"})");
    log("client", 3000, "third");
    log("server", 1000, "first");
    log("server", 5000, "fifth");
    const auto outcome = support::run({support::rocecap(), "timeline", path_});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(outcome.out,
              " 0.000000  server           note      first\n"
              " 0.000002  client           note      third\n"
              " 0.000004  server           note      fifth\n");
}

TEST_F(TimelineCommand, writes_a_run_for_perfetto) {
    replace("run.json", R"({"ended":"yes"})");
    log("client", 3000, "third");
    const std::string trace = path_ + "/trace.json";
    const auto outcome = support::run({support::rocecap(), "timeline", path_, "--perfetto", trace});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(outcome.out, "");
    const auto printed = support::run({support::rocecap(), "timeline", path_, "--perfetto", "-"});
    EXPECT_NE(printed.out.find("third"), std::string::npos) << printed.all();
    EXPECT_EQ(support::run({"cat", trace}).out, printed.out);
    // All of a damaged capture that can be read, and then why there is no more.
    const std::string sample = "captures/samples/06_verbs_tcp_exchange/annotated.pcapng";
    const auto cut = path_ + "/cut.pcapng";
    ASSERT_EQ(support::run({"bash", "-c", "head -c -9 " + sample + " > " + cut}).exit_code, 0);
    const auto damaged = support::run({support::rocecap(), "timeline", cut, "--perfetto", "-"});
    EXPECT_EQ(damaged.exit_code, 2);
    EXPECT_NE(damaged.err.find("ends inside"), std::string::npos) << damaged.err;
    EXPECT_TRUE(damaged.out.ends_with("]}\n")) << damaged.out;
}

TEST_F(TimelineCommand, writes_nothing_for_perfetto_if_there_is_no_roce) {
    rocecap_test::SyntheticRun run("perfetto");
    run.tcp(std::array{std::byte{1}});
    run.keep_capture();
    const std::string trace = path_ + "/trace.json";
    const auto outcome = support::run(
        {support::rocecap(), "timeline", run.path() + "/wire.pcapng", "--perfetto", trace});
    EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
    EXPECT_NE(outcome.err.find("has no RoCE packet"), std::string::npos) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(trace));
}

TEST_F(TimelineCommand, follows_a_run_until_it_has_ended) {
    replace("run.json", "{}");
    support::Process following({support::rocecap(), "timeline", "--follow", path_});
    log("server", 1000, "before the end");
    ASSERT_TRUE(following.await("before the end", 10s));
    log("server", 2000, "the last word");
    replace("run.json", R"({"ended":"now"})");
    const auto outcome = following.wait(10s);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(outcome.out.find("the last word"), std::string::npos) << outcome.all();
}

// A run whose logs are late for its second packet: more than it waits.
TEST_F(TimelineCommand, sums_of_a_followed_run_are_those_of_its_complete_files) {
    rocecap_test::SyntheticRun run("late_log");
    const std::string json = run.path() + "/run.json";
    std::ofstream(json) << R"({"step":"late_log","hosts":{"server":{"address":"192.0.2.1"},)"
                        << R"("client":{"address":"192.0.2.2"}}})";
    const auto log_send = [&](std::uint32_t psn) {
        run.log("client", "post_send",
                {{"qpn", 0x12u},
                 {"wr_id", psn},
                 {"opcode", "SEND"},
                 {"psn_first", psn},
                 {"psn_last", psn}});
    };
    for (const std::uint32_t psn : {7u, 8u})
        run.packet(0x04, psn);  // RC SEND Only
    run.keep_capture();
    run.log_states(100u, 7u);
    log_send(7);
    support::Process following({support::rocecap(), "timeline", "--follow", run.path()});
    ASSERT_TRUE(following.await("psn 0x000008", 20s)) << following.output();
    EXPECT_NE(following.output().find("client wr 7"), std::string::npos) << following.output();
    log_send(8);
    std::ofstream(json + ".new") << R"({"step":"late_log","ended":"now","hosts":{"server":)"
                                 << R"({"address":"192.0.2.1"},"client":{"address":"192.0.2.2"}}})";
    std::filesystem::rename(json + ".new", json);
    const auto outcome = following.wait(20s);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(
        outcome.out.find("2 packets; of 2 on connected queue pairs, 2 belong to a work request"),
        std::string::npos)
        << outcome.all();
    EXPECT_NE(outcome.out.find("1 packets are listed without their cause"), std::string::npos)
        << outcome.all();
}

TEST_F(TimelineCommand, a_signal_ends_following_with_what_there_is) {
    replace("run.json", "{}");
    log("server", 1000, "hello");
    support::Process following({support::rocecap(), "timeline", "--follow", path_});
    ASSERT_TRUE(following.await("hello", 10s));
    following.signal(SIGINT);
    const auto outcome = following.wait(10s);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(outcome.out.find("hello"), std::string::npos) << outcome.all();
}

TEST_F(TimelineCommand, counts_lines_that_are_no_events) {
    replace("run.json", R"({"ended":"yes"})");
    append("server.jsonl", "what?\n");
    const auto outcome = support::run({support::rocecap(), "timeline", path_});
    EXPECT_NE(outcome.out.find("1 lines of the run logs are not events"), std::string::npos)
        << outcome.all();
}

TEST_F(TimelineCommand, says_in_a_sentence_that_a_directory_is_none_of_a_run) {
    const auto outcome = support::run({support::rocecap(), "timeline", path_});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("is not a run directory"), std::string::npos) << outcome.all();
}

}  // namespace timeline_test
