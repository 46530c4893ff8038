// The log of a program: where it is, what happens if it cannot be written, its summary and
// explanation.
#include <csignal>
#include <filesystem>
#include <string>
#include <sys/stat.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tools/rocetrace/traced_program.hpp"

namespace program_log_test {

using namespace std::chrono_literals;
using namespace rocetrace_test;
using support::Argv;
namespace fs = std::filesystem;

TEST_F(TracedProgram, has_a_log_of_its_name_and_number_by_default_if_there_is_something_to_log) {
    if (fs::exists("/dev/infiniband/rdma_cm"))
        GTEST_SKIP() << "the call would not fail here";
    const auto before = fs::current_path();
    fs::current_path(folder_.path());
    const auto log_of = [&](const Argv& program) {
        Argv argv{rocetrace(), "--"};
        argv.insert(argv.end(), program.begin(), program.end());
        support::Process process(argv);
        const auto name = fmt::format("{}.{}.jsonl", program[0], process.pid());
        process.wait(10s);
        return fs::exists(path(name));
    };
    EXPECT_TRUE(log_of({"python3", "-c", call}));
    fs::remove_all(folder_.path());
    fs::create_directory(folder_.path());
    fs::current_path(folder_.path());
    EXPECT_FALSE(log_of({"true"}));
    EXPECT_FALSE(log_of({"no-such-program"}));
    EXPECT_TRUE(fs::is_empty(folder_.path()));
    run({"-o", path("chosen.jsonl"), "--", "true"});
    EXPECT_TRUE(fs::exists(path("chosen.jsonl")));
    fs::current_path(before);
}

TEST_F(TracedProgram, whose_log_cannot_be_written_ends_with_125_unless_it_failed_itself) {
    if (fs::exists("/dev/infiniband/rdma_cm"))
        GTEST_SKIP() << "the call would not fail here";
    const std::string complaint =
        "rocetrace: run log incomplete: cannot write to /dev/full: No space left on device.\n";
    EXPECT_EQ(run({"-o", "/dev/full", "--", "python3", "-c", call}).all(),
              "exit 125\n" + complaint);
    EXPECT_EQ(
        run({"-o", "/dev/full", "--", "python3", "-c", std::string(call) + "; exit(3)"}).all(),
        "exit 3\n" + complaint);
}

// The shell opens the FIFO and reads nothing. The log does not fit into it.
TEST_F(TracedProgram, gets_signals_while_nobody_reads_the_log) {
    const auto fifo = path("fifo");
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    support::Process reader({"sh", "-c", "exec 3<" + fifo + "; echo open; sleep 30"});
    support::Process process({rocetrace(), "-o", fifo, "--", "python3", "-c",
                              "import ctypes, os\n"
                              "create = ctypes.CDLL('librdmacm.so.1').rdma_create_event_channel\n"
                              "[create() for i in range(20000)]\n"
                              "print('full', flush=True)\n"
                              "import signal; signal.pause()\n"});
    ASSERT_TRUE(reader.await("open", 10s));
    ASSERT_TRUE(process.await("full", 20s));
    process.signal(SIGTERM);
    const auto outcome = process.wait(10s);
    EXPECT_FALSE(outcome.timed_out);
    EXPECT_EQ(outcome.exit_code, 128 + SIGTERM) << outcome.all();
    EXPECT_NE(outcome.err.find("run log incomplete: cannot write to " + fifo), std::string::npos)
        << outcome.err;
}

TEST_F(TracedProgram, may_be_summarized_and_explained_when_it_has_ended) {
    if (fs::exists("/dev/infiniband/rdma_cm"))
        GTEST_SKIP() << "the call would not fail here";
    const auto outcome = run({"-o", path("log.jsonl"), "--role", "end", "--summary", "--explain",
                              "--", "python3", "-c", call});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(outcome.err.starts_with("failed calls: 1\n  ")) << outcome.err;
    EXPECT_TRUE(
        outcome.err.ends_with(" end: rdma_create_event_channel ENODEV\nNo failure and no "
                              "slowdown found in 1 run log.\n"))
        << outcome.err;
    EXPECT_EQ(run({"-o", "-", "--summary", "--", "true"}).all(),
              "exit 125\nrocetrace: --summary and --explain read the log when the program has "
              "ended: -o must be a file, not -.\n");
    for (const char* output : {"-", "/dev/full"})
        EXPECT_EQ(run({"-o", output, "--explain", "--", "true"}).exit_code, 125) << output;
}

// The program replaces the log by a FIFO. The shell can open it for writing when rocetrace reads it.
TEST_F(TracedProgram, can_be_ended_while_its_log_is_explained) {
    const std::string log = path("log.jsonl");
    const auto outcome = support::run(
        {"sh", "-c",
         R"("$1" --explain -o "$2" -- sh -c 'rm "$1" && mkfifo "$1"' sh "$2" & tracer=$!
         until test -p "$2"; do kill -0 $tracer || exit 1; done
         exec 3>"$2"
         kill -TERM $tracer
         wait $tracer)",
         "sh", rocetrace(), log},
        {}, 20s);
    EXPECT_EQ(outcome.exit_code, 128 + SIGTERM) << outcome.err;
}

TEST_F(TracedProgram, logs_that_are_recorded_are_summarized_and_explained) {
    write("a.jsonl",
          R"({"t_ns":3661000002000,"role":"a","event":"failed","call":"ibv_open_device",)"
          R"("error":"EPERM"})"
          "\n");
    write("b.jsonl", R"({"t_ns":1,"role":"b","event":"dropped","records":7})"
                     "\n");
    EXPECT_EQ(run({"--summary", path("a.jsonl"), path("b.jsonl")}).all(),
              "exit 0\nfailed calls: 1\n  01:01:01.000002 a: ibv_open_device EPERM\n"
              "7 events are missing in the log: counts of completions may be too small\n");
    EXPECT_EQ(run({"--explain", path("b.jsonl")}).all(),
              "exit 0\nNo failure and no slowdown found in 1 run log.\n");
    write("aborted.jsonl", R"({"t_ns":1,"role":"c","event":"process_end","pid":7,"signal":6})"
                           "\n");
    const auto aborted = run({"--explain", path("aborted.jsonl")});
    EXPECT_EQ(aborted.exit_code, 1);
    EXPECT_NE(aborted.out.find("process 7 has ended by signal 6"), std::string::npos);
    EXPECT_EQ(run({"-o", path("log"), "--summary", path("none.jsonl")}).exit_code, 127);
}

}  // namespace program_log_test
