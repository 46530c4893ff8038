// The lab's own lifecycle: starting it again, its status, interrupted runs, and that no process
// remains.
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/lab.hpp"
#include "support/temp_path.hpp"

namespace lifecycle_test {

using namespace std::chrono_literals;
using support::LabRun;

class Lifecycle : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        setenv("LAB_TEST", std::to_string(getpid()).c_str(), 1);
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
    }
};

std::string word_of(const std::string& file) {
    std::ifstream stream(file);
    std::string word;
    stream >> word;
    return word;
}

// Returns a setting with which the guests were started.
int state_of(const std::string& name) {
    std::ifstream stream("build/lab/vm.state");
    for (std::string line; std::getline(stream, line);)
        if (line.starts_with(name + "="))
            return std::stoi(line.substr(name.size() + 1));
    return -1;
}

// Returns the processes that runs of this test process started, on this host and in the guests, and
// that still run. Another test on this host may use another lab of this checkout, so only processes
// with this test's mark in the environment count here.
std::string processes_of_runs() {
    std::string left;
    for (const char* host : {"server", "client"})
        left += support::exec(
                    host, {"bash", "-c", "ps -eo args | grep -E '^(bash lab/host|build/)' || true"})
                    .out;
    constexpr const char* with_mark = R"(
        for process in /proc/[0-9]*; do
            grep -qzxF "LAB_TEST=$LAB_TEST" $process/environ 2>/dev/null || continue
            tr '\0' ' ' <$process/cmdline && echo
        done 2>/dev/null | grep -E 'timeline --follo[w]|lab/host/supervis[e]' || true)";
    return left + support::run({"bash", "-c", with_mark}).out;
}

// A WRITE that takes many seconds, so that the run can be interrupted during it. A busy host needs
// more than the default of 5 s to register so much memory.
const support::Argv long_write{"lab/lab",  "capture",  "06",        "--",
                               "--length", "30000000", "--timeout", "60"};
const support::Argv enough_memory{"LAB_SERVER_ARGS=--memory 30000000"};

TEST_F(Lifecycle, up_again_is_quick_and_changes_nothing) {
    const auto before = word_of("build/lab/server.pid") + " " + word_of("build/lab/client.pid");
    const auto up = support::run({"lab/lab", "up"});
    EXPECT_EQ(up.exit_code, 0);
    EXPECT_NE(up.err.find("already up"), std::string::npos) << up.all();
    EXPECT_LT(up.took, 15s);  // 1 s on an idle machine; to start the guests takes 20 s
    EXPECT_EQ(before, word_of("build/lab/server.pid") + " " + word_of("build/lab/client.pid"));
}

TEST_F(Lifecycle, a_copy_of_the_checkout_does_not_stop_its_guests) {
    const support::TempPath copy("lab_state");
    const auto copied = support::run({"cp", "-a", "build/lab", copy.str()});
    ASSERT_EQ(copied.exit_code, 0) << copied.err;
    const support::Argv environment{"LAB_STATE=" + copy.str()};
    const auto status = support::run({"lab/lab", "status"}, environment);
    EXPECT_NE(status.all().find("down"), std::string::npos) << status.all();
    EXPECT_EQ(support::run({"lab/lab", "down"}, environment).exit_code, 0);
    EXPECT_EQ(support::exec("server", {"true"}).exit_code, 0);
    EXPECT_EQ(support::exec("client", {"true"}).exit_code, 0);
}

TEST_F(Lifecycle, the_link_has_the_configured_mtu_and_rdma_what_fits_into_it) {
    const int mtu = state_of("MTU");
    int path_mtu = 256;
    // 80: the maximum size of the IPv6, UDP and RoCE headers.
    while (path_mtu < 4096 && path_mtu * 2 + 80 <= mtu)
        path_mtu *= 2;
    const auto status = support::run({"lab/lab", "status"});
    for (const auto& address : {support::server_ip, support::client_ip}) {
        EXPECT_EQ(support::exec(address == support::server_ip ? "server" : "client",
                                {"cat", "/sys/class/net/eth0/mtu"})
                      .out,
                  std::to_string(mtu) + "\n");
        EXPECT_NE(
            status.out.find("rxe0 ACTIVE on eth0 (" + address + "), MTU " + std::to_string(mtu) +
                            ", RoCE path MTU " + std::to_string(path_mtu)),
            std::string::npos)
            << status.all();
    }
}

TEST_F(Lifecycle, exec_passes_output_arguments_and_exit_code_through) {
    const auto outcome = support::exec(
        "client",
        {"bash", "-c", "printf '%s|' \"$@\"; hostname >&2; exit 7", "-", "a b", "*", "'", "$x"});
    EXPECT_EQ(outcome.exit_code, 7);
    EXPECT_EQ(outcome.out, "a b|*|'|$x|");
    EXPECT_EQ(outcome.err, "rdma-client\n");
}

TEST_F(Lifecycle, the_guests_have_no_way_out) {
    const auto outcome = support::exec("server", {"ip", "-4", "route", "show", "default"});
    EXPECT_EQ(outcome.all(), "exit 0\n");
}

TEST_F(Lifecycle, a_run_records_how_far_the_clocks_are_apart) {
    const LabRun run = support::read_run(support::run({"lab/lab", "run", "01"}));
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.all();
    for (const char* host : {"server", "client"}) {
        const double offset = run.info["clock"][host]["offset_s"];
        const double uncertainty = run.info["clock"][host]["uncertainty_s"];
        const auto now = [] {
            return std::chrono::duration<double>(
                       std::chrono::system_clock::now().time_since_epoch())
                .count();
        };
        const double before = now();
        const double theirs = std::stod(support::exec(host, {"date", "+%s.%N"}).out);
        const double after = now();
        EXPECT_GT(uncertainty, 0);
        EXPECT_LT(uncertainty, 0.1);
        // 10 ms: the maximum drift of an emulated clock between the two measurements.
        EXPECT_GE(theirs, before + offset - uncertainty - 0.01);
        EXPECT_LE(theirs, after + offset + uncertainty + 0.01);
    }
}

TEST_F(Lifecycle, ctrl_c_in_a_capture_leaves_a_whole_record_and_no_process) {
    support::Process process(long_write, enough_memory);
    ASSERT_TRUE(process.await("post_send", 60s));
    kill(-process.pid(), SIGINT);
    const LabRun run = support::read_run(process.wait(60s));
    EXPECT_EQ(run.outcome.exit_code, 128 + SIGINT) << run.outcome.err;
    EXPECT_FALSE(run.outcome.timed_out);
    ASSERT_TRUE(run.info.is_object());
    EXPECT_TRUE(run.info.contains("ended")) << run.info;
    EXPECT_EQ(run.info["capture"]["exit_code"], 0) << run.info["capture"];
    // tshark reads the file to its end, and finds as many packets as the capture reported.
    const auto tshark = support::run(
        {"tshark", "-r", run.file("wire.pcapng"), "-T", "fields", "-e", "frame.number"});
    EXPECT_EQ(tshark.exit_code, 0) << tshark.err;
    EXPECT_EQ(static_cast<int>(std::ranges::count(tshark.out, '\n')),
              run.info["capture"]["packets"].get<int>());
    EXPECT_GT(run.info["capture"]["packets"].get<int>(), 0);
    EXPECT_EQ(processes_of_runs(), "");
}

TEST_F(Lifecycle, a_run_whose_script_is_killed_leaves_no_process) {
    support::Process process(long_write, enough_memory);
    ASSERT_TRUE(process.await("post_send", 60s));
    process.signal(SIGKILL);
    process.wait(30s);
    // host/supervise sends SIGTERM when the leash is closed, and SIGKILL 5 s later. Each check
    // takes a fraction of a second.
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    std::string left;
    do
        left = processes_of_runs();
    while (!left.empty() && std::chrono::steady_clock::now() < deadline);
    EXPECT_EQ(left, "");
}

class LostInACapture : public Lifecycle, public testing::WithParamInterface<const char*> {};

// The file contains the process ID of a process that the run needs.
TEST_P(LostInACapture, is_named_and_ends_the_run) {
    const std::string file = GetParam();
    const std::string host = file == "server.pid" ? "server" : "client";
    const std::string cause = file == "link.process" ? "rocewire, the link emulator, has ended"
                                                     : "the " + host + " guest's QEMU has ended";
    support::Process process(
        {"lab/lab", "capture", "06", "--", "--length", "30000000", "--timeout", "60"},
        {"LAB_SERVER_ARGS=--memory 30000000"});
    // 60 packets of 4 KiB are in the capture.
    ASSERT_TRUE(process.await("client wr 1, 60 of ", 60s)) << process.output();
    const auto killed = std::chrono::steady_clock::now();
    kill(std::stoi(word_of("build/lab/" + file)), SIGKILL);
    const LabRun run = support::read_run(process.wait(60s));
    EXPECT_LT(std::chrono::steady_clock::now() - killed, 15s);  // 5 s on an idle machine
    EXPECT_EQ(run.outcome.exit_code, 1) << run.outcome.err;
    EXPECT_NE(run.outcome.err.find("lab: " + cause), std::string::npos) << run.outcome.err;
    EXPECT_TRUE(run.info.contains("ended")) << run.info;
    EXPECT_GT(std::filesystem::file_size(run.file("wire.pcapng")), 100'000U);
    const auto problem = support::bring_up();
    ASSERT_FALSE(problem) << *problem;
}

INSTANTIATE_TEST_SUITE_P(Processes, LostInACapture,
                         testing::Values("link.process", "client.pid", "server.pid"),
                         [](const auto& test) {
                             const std::string file = test.param;
                             return file.substr(0, file.find('.'));
                         });

TEST_F(Lifecycle, a_client_that_takes_too_long_is_stopped) {
    const LabRun run = support::read_run(
        support::run({"lab/lab", "run", "06", "--", "--length", "30000000", "--timeout", "60"},
                     {enough_memory[0], "CAPTURE_SECONDS=1"}));
    EXPECT_EQ(run.outcome.exit_code, 124) << run.outcome.err;
    EXPECT_NE(run.outcome.err.find("client stopped after 1 s, server ok"), std::string::npos)
        << run.outcome.err;
    EXPECT_EQ(run.info["hosts"]["client"]["exit_code"], 124);
    EXPECT_EQ(processes_of_runs(), "");
}

TEST_F(Lifecycle, a_server_that_does_not_start_is_named_with_its_reason_at_once) {
    const LabRun run =
        support::read_run(support::run({"lab/lab", "run", "06"}, {"CAPTURE_BIND_IP=198.51.100.1"}));
    EXPECT_EQ(run.outcome.exit_code, 1);
    EXPECT_NE(run.outcome.err.find("the server ended before it was ready: server: "),
              std::string::npos)
        << run.outcome.err;
    EXPECT_LT(run.outcome.took, 20s);
}

TEST_F(Lifecycle, a_capture_that_cannot_start_is_named_with_its_reason_at_once) {
    const LabRun run = support::read_run(
        support::run({"lab/lab", "capture", "01"}, {"CAPTURE_FILTER=udp port ("}));
    EXPECT_EQ(run.outcome.exit_code, 1);
    EXPECT_NE(run.outcome.err.find("the filter 'udp port (' is not valid"), std::string::npos)
        << run.outcome.err;
    EXPECT_TRUE(run.info.contains("ended")) << run.info;
    EXPECT_LT(run.outcome.took, 20s);
}

TEST_F(Lifecycle, several_captures_end_with_the_table_of_their_psns) {
    const auto outcome = support::run({"lab/lab", "capture", "01", "06"}, {}, 120s);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    const auto table = outcome.out.find("\nrun  ");
    ASSERT_NE(table, std::string::npos) << outcome.out;
    const std::string rows = outcome.out.substr(table);
    for (const char* row : {"\n01   client → server  0x", "\n01   server → client  0x",
                            "\n06   client → server  0xc11e00", "\n06   server → client  0x5e1f00"})
        EXPECT_NE(rows.find(row), std::string::npos) << rows;
    EXPECT_EQ(std::ranges::count(rows, '\n'), 6) << rows;
}

TEST_F(Lifecycle, the_title_of_each_lesson_stands_above_its_logs_and_packets) {
    const auto outcome = support::run({"lab/lab", "run", "06", "05"}, {}, 120s);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(outcome.out.starts_with("lesson 06 · ")) << outcome.out;
    const auto second = outcome.out.find("\n\nlesson 05 · ");
    ASSERT_NE(second, std::string::npos) << outcome.out;
    const std::string first_event = "\n 0.000000  ";
    EXPECT_LT(outcome.out.find(first_event), second);
    EXPECT_EQ(outcome.out.find(first_event, second), outcome.out.find('\n', second + 2));
}

// Returns the number of run directories that the lab printed at the end of runs.
std::size_t runs_in(const support::Outcome& outcome) {
    constexpr std::string_view end_of_a_run = "everything of this run";
    std::size_t count = 0;
    for (auto at = outcome.err.find(end_of_a_run); at != std::string::npos;
         at = outcome.err.find(end_of_a_run, at + 1))
        ++count;
    return count;
}

TEST_F(Lifecycle, the_first_of_several_steps_that_fails_is_the_last) {
    const auto outcome =
        support::run({"lab/lab", "capture", "06", "07"}, {"CAPTURE_BIND_IP=198.51.100.1"}, 120s);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(runs_in(outcome), 1U) << outcome.all();
    EXPECT_EQ(outcome.out.find("readable in"), std::string::npos) << outcome.out;
}

class InterruptedSeries : public Lifecycle, public testing::WithParamInterface<int> {};

// Ctrl-C is sent to all processes of the terminal; SIGTERM and SIGKILL only to the script.
TEST_P(InterruptedSeries, ends_the_run_of_the_moment_and_begins_no_other) {
    support::Process process({"lab/lab", "capture", "01", "06"});
    ASSERT_TRUE(process.await("post_send", 60s));
    if (GetParam() == SIGINT)
        kill(-process.pid(), SIGINT);
    else
        process.signal(GetParam());
    const auto outcome = process.wait(60s);
    EXPECT_EQ(outcome.exit_code, 128 + GetParam()) << outcome.all();
    EXPECT_EQ(outcome.out.find("readable in"), std::string::npos) << outcome.out;
    if (GetParam() == SIGKILL) {
        const auto deadline = std::chrono::steady_clock::now() + 20s;
        while (!processes_of_runs().empty() && std::chrono::steady_clock::now() < deadline) {
        }
    } else {
        EXPECT_EQ(runs_in(outcome), 1U) << outcome.all();
    }
    EXPECT_EQ(processes_of_runs(), "");
}

INSTANTIATE_TEST_SUITE_P(Signals, InterruptedSeries, testing::Values(SIGINT, SIGTERM, SIGKILL),
                         [](const auto& test) { return "signal_" + std::to_string(test.param); });

}  // namespace lifecycle_test
