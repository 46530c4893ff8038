// Runs rocecap flows.
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "capture/pcapng_writer.hpp"
#include "runlog/log.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"
#include "trace/flow/feed.hpp"

namespace flows_command_test {

using namespace flow_test;
using nlohmann::json;
using support::rocecap;

constexpr Way there{.from = 1, .to = 2, .qpn = 0x11};
constexpr Way back{.from = 2, .to = 1, .qpn = 0x22};

class FlowsCommand : public testing::Test {
  protected:
    FlowsCommand() : out_(capture::Sink::create(path_), {}), interface_(out_.add_interface({})) {
        for (std::uint32_t i = 0; i < 3; ++i)
            add(packet(there, opcode::send_only, 100 + i, 8));
        add(answer(back, 102));
    }
    void add(const wire::Packet& made) { add(wire::encode(made)); }
    void add(const std::vector<std::byte>& bytes) {
        out_.packet(interface_, {.time = capture::Time(1'000'000'000 + 1000 * count_++),
                                 .bytes = bytes,
                                 .original_length = static_cast<std::uint32_t>(bytes.size())});
        out_.flush();
    }
    support::Outcome flows(support::Argv options = {}) const {
        support::Argv argv{rocecap(), "flows", path_};
        argv.insert(argv.end(), options.begin(), options.end());
        return support::run(argv);
    }
    /// Parses the lines of --json.
    static std::vector<json> lines(const support::Outcome& outcome) {
        std::vector<json> all;
        std::istringstream text(outcome.out);
        for (std::string line; std::getline(text, line);)
            all.push_back(json::parse(line));
        return all;
    }
    static bool has(const std::string& text, std::string_view part) {
        return text.find(part) != std::string::npos;
    }

    support::TempPath temp_{"flows.pcapng"};
    std::string path_ = temp_.str();
    capture::PcapngWriter out_;
    std::uint32_t interface_;
    int count_ = 0;
};

TEST_F(FlowsCommand, prints_a_table_for_each_conversation_and_the_totals) {
    const auto outcome = flows();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.out.rfind("#1  RC  192.0.2.1 qp 0x22 ↔ 192.0.2.2 qp 0x11\n", 0), 0U);
    EXPECT_TRUE(has(outcome.out, "ACKs sent ")) << outcome.out;
    EXPECT_TRUE(outcome.out.ends_with("\n\n4 packets\n")) << outcome.out;
    EXPECT_FALSE(has(outcome.out, "\033"));
    EXPECT_TRUE(has(flows({"--color", "always"}).out, "\033"));
}

TEST_F(FlowsCommand, json_is_an_object_a_conversation_and_the_totals) {
    const auto all = lines(flows({"--json"}));
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0]["directions"][0]["requests"]["ack"]["count"], 3);
    EXPECT_EQ(all[1]["totals"]["packets"], 4);
}

TEST_F(FlowsCommand, reads_standard_input) {
    const auto outcome = support::run({"bash", "-c", rocecap() + " flows - < " + path_});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(outcome.out, flows().out);
}

TEST_F(FlowsCommand, where_chooses_packets) {
    const auto all = lines(flows({"--json", "--where", "bth.psn == 101"}));
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0]["directions"][0]["packets"], 1);
    EXPECT_EQ(all[1]["totals"]["packets"], 1);
    const auto wrong = flows({"--where", "bth.psn =="});
    EXPECT_EQ(wrong.exit_code, 2);
    EXPECT_EQ(wrong.out, "");
    EXPECT_NE(wrong.err, "");
}

TEST_F(FlowsCommand, count_stops_after_so_many) {
    EXPECT_EQ(lines(flows({"--json", "-c", "2"})).back()["totals"]["packets"], 2);
    EXPECT_EQ(lines(flows({"--json", "-c", "1", "--where", "aeth"})).back()["totals"]["packets"], 1)
        << "of those that match";
}

TEST_F(FlowsCommand, without_packets_says_so) {
    const auto outcome = flows({"--where", "bth.psn == 7"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out, "no packets\n");
}

TEST_F(FlowsCommand, icrcs_are_looked_at_where_asked_for) {
    auto frame = wire::encode(packet(there, opcode::send_only, 103, 8));
    frame.back() ^= std::byte{1};
    add(frame);
    const json unchecked{{"checked", 0}, {"bad", 0}};
    const json bad{{"checked", 4}, {"bad", 1}};
    EXPECT_EQ(lines(flows({"--json"}))[0]["directions"][0]["icrc"], unchecked);
    EXPECT_EQ(lines(flows({"--json", "--icrc"}))[0]["directions"][0]["icrc"], bad);
}

TEST_F(FlowsCommand, a_run_log_names_the_peers) {
    const support::TempPath log("flows_run.log");
    const auto write = [&](const std::string& text) { std::ofstream(log.str()) << text; };
    write(runlog::to_json({.t_ns = 1,
                           .role = "server",
                           .name = "device",
                           .fields = {{"name", "rxe0"}, {"gid", "::ffff:192.0.2.2"}}}) +
          "\n" +
          runlog::to_json({.t_ns = 2,
                           .role = "server",
                           .name = "qp_state",
                           .fields = {{"qpn", 0x11U}, {"dest_qpn", 0x22U}, {"path_mtu", 1024U}}}) +
          "\n");
    const auto all = lines(flows({"--json", "--run-log", log.str()}));
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0]["paired_by"], "run log");
    EXPECT_EQ(all[0]["path_mtu"], 1024);

    write("not a run log\n");
    const auto none = flows({"--run-log", log.str()});
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_TRUE(has(none.err, "'" + log.str() + "' is not a run log: ")) << none.err;
    EXPECT_EQ(none.out, "");
}

// A program may have ended before it connected a queue pair.
TEST_F(FlowsCommand, a_run_log_without_queue_pairs_changes_nothing) {
    const support::TempPath log("flows_early.log");
    std::ofstream(log.str()) << runlog::to_json({.t_ns = 1, .role = "server", .name = "device"})
                             << '\n';
    const auto outcome = flows({"--run-log", log.str()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(outcome.out, flows().out);
}

TEST_F(FlowsCommand, what_cannot_be_run_is_a_sentence_and_exit_code_2) {
    const auto says = [&](const support::Argv& options, const std::string& text) {
        const auto outcome = flows(options);
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_TRUE(has(outcome.err, text)) << outcome.all();
        EXPECT_EQ(outcome.out, "");
    };
    says({"--run-log", "/nonexistent"}, "cannot open '/nonexistent': No such file or directory.");
    says({"--run-log", "/tmp"}, "'/tmp' is not a regular file: ");
    says({"--max-flows", "15"}, "--max-flows");
    says({"--max-flows", "99999999999"}, "--max-flows");
    says({"-c", "0"}, "-c");
    const auto missing = support::run({rocecap(), "flows", "/nonexistent"});
    EXPECT_EQ(missing.exit_code, 2);
    EXPECT_EQ(missing.err, "rocecap: cannot open '/nonexistent': No such file or directory.\n");
}

TEST_F(FlowsCommand, keeps_as_many_flows_as_it_may) {
    for (std::uint32_t i = 0; i < 40; ++i)
        add(packet({.from = 3, .to = 4, .qpn = i}, opcode::send_only, 1, 8));
    const auto few = flows({"--max-flows", "16"});
    EXPECT_EQ(few.exit_code, 0);
    EXPECT_TRUE(has(few.out, "26 directions with 28 packets were dropped to limit memory"))
        << few.out;
}

TEST_F(FlowsCommand, what_memory_does_not_suffice_for_is_said) {
    if (support::is_sanitized())
        GTEST_SKIP() << "AddressSanitizer needs more address space than the test leaves";
    const auto outcome = support::run(
        {"bash", "-c",
         "ulimit -v 2000000; " + rocecap() + " flows " + path_ + " --max-flows 16777216"});
    EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
    EXPECT_EQ(outcome.err,
              "rocecap: there is not enough memory for 16777216 directions: choose a smaller "
              "--max-flows.\n");
}

TEST_F(FlowsCommand, malformed_packets_exit_with_1) {
    auto frame = wire::encode(packet(there, opcode::send_only, 103, 8));
    frame[42] = std::byte{0x1f};
    add(frame);
    const auto outcome = flows();
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_TRUE(outcome.out.ends_with("5 packets, 1 malformed\n")) << outcome.out;
}

TEST_F(FlowsCommand, a_capture_that_breaks_off_is_reported_and_exits_with_2) {
    std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 10);
    const auto outcome = flows();
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_TRUE(outcome.out.ends_with("\n3 packets\n")) << outcome.all();
    EXPECT_EQ(
        outcome.err.rfind("rocecap: '" + path_ + "' ends inside the block that begins at byte ", 0),
        0U)
        << outcome.err;
}

TEST_F(FlowsCommand, a_reader_that_has_enough_is_a_clean_end) {
    for (std::uint32_t i = 0; i < 5000; ++i)
        add(packet({.from = 3, .to = 4, .qpn = i}, opcode::send_only, 1, 8));
    const auto outcome = support::run(
        {"bash", "-c", rocecap() + " flows " + path_ + " | head -n 1; echo ${PIPESTATUS[0]}"});
    EXPECT_TRUE(outcome.out.ends_with("\n0\n")) << outcome.all();
    EXPECT_EQ(outcome.err, "");
}

TEST_F(FlowsCommand, ctrl_c_while_a_pipe_stays_open_prints_the_report) {
    // The file is larger than a pipe buffer: when the writer has written it, the program reads
    // packets.
    for (std::uint32_t i = 0; i < 2000; ++i)
        add(packet(there, opcode::send_only, 103 + i, 8));
    ASSERT_GT(std::filesystem::file_size(path_), 3U * 65536);
    const support::TempPath pipe("flows.fifo");
    ASSERT_EQ(mkfifo(pipe.str().c_str(), 0600), 0);
    // The writer keeps the pipe open until it is stopped.
    support::Process writer(
        {"bash", "-c", "exec 3> " + pipe.str() + "; cat " + path_ + " >&3; echo written; read"}, {},
        support::Input::held_open);
    support::Process flows({rocecap(), "flows", pipe.str()});
    ASSERT_TRUE(writer.await("written", std::chrono::seconds(10)));
    flows.signal(SIGINT);
    const auto outcome = flows.wait(std::chrono::seconds(5));
    EXPECT_FALSE(outcome.timed_out);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(outcome.err, "");
    EXPECT_TRUE(outcome.out.ends_with("\n2004 packets\n")) << outcome.all();
}

}  // namespace flows_command_test
