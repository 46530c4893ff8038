// The end of a run: what the lab's scripts conclude from the programs, their logs and the capture.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"

namespace run_test {

class RunEnd : public testing::Test {
  protected:
    RunEnd() { std::filesystem::create_directory(dir_.path()); }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream(dir_.str() + "/" + name) << text;
    }
    // Runs a command with the functions of the lab's script.
    support::Outcome with_functions(const std::string& command) const {
        return support::run(
            {"bash", "-c",
             "set -uo pipefail; RUN_DIR=$0 LAB_BUILD=build CAPTURE_SECONDS=10 "
             "CAPTURE_SERVER_WAIT_SECONDS=1 CAPTURE_FILTER= LESSON=none INCOMPLETE= NO_ROOM=\n"
             "for part in common guard await jobs lesson record capture whole run; do\n"
             "    . lab/lib/$part.sh\n"
             "done\n" +
                 command,
             dir_.str()});
    }
    std::string status_text(int status, const std::string& log = "") const {
        write("server.jsonl", log);
        return with_functions("JOB_STATUS[server]=" + std::to_string(status) +
                              "; status_text server")
            .out;
    }

    support::TempPath dir_{"run_end"};
};

TEST_F(RunEnd, tells_what_is_known_of_a_status_above_128) {
    EXPECT_EQ(status_text(3), "failed (exit 3)\n");
    EXPECT_EQ(status_text(134), "failed (exit 134, as after SIGABRT)\n");
    EXPECT_EQ(status_text(137), "failed (exit 137, as after SIGKILL)\n");
    EXPECT_EQ(status_text(255), "failed (exit 255)\n");
}

TEST_F(RunEnd, knows_its_own_time_limit_from_the_programs) {
    write("server.log", "9 of 10\n");
    EXPECT_EQ(status_text(124), "failed (exit 124)\n");
    write("server.log", "9 of 10\nstopped: 10 s have passed\n10 of 10\n");
    EXPECT_EQ(status_text(124), "stopped after 10 s\n");
}

TEST_F(RunEnd, a_program_with_a_status_above_128_is_not_the_lab_that_was_killed) {
    const auto program = with_functions("work_134() { exit_as 134; }; guarded work_134");
    EXPECT_EQ(program.exit_code, 134);
    EXPECT_EQ(program.err, "");
    const auto lab = with_functions("die_by_6() { kill -ABRT $BASHPID; }; guarded die_by_6");
    EXPECT_EQ(lab.exit_code, 1);
    EXPECT_EQ(lab.err, "lab: the lab's process was killed by signal 6: run the command again\n");
}

TEST_F(RunEnd, tells_the_errors_of_a_program_that_ended_well) {
    EXPECT_EQ(status_text(0), "ok\n");
    const std::string note = R"({"event":"note","text":"an error"})"
                             "\n";
    const std::string error = R"({"t_ns":1,"event":"error","text":"a receive\nfailed"})"
                              "\n";
    EXPECT_EQ(status_text(0, note), "ok\n");
    EXPECT_EQ(status_text(0, note + error), "ok, but it logged 1 error: a receive failed\n");
    EXPECT_EQ(status_text(0, error + error + "{\"event\":\"err"),
              "ok, but it logged 2 errors, the first: a receive failed\n");
    EXPECT_EQ(status_text(1, error), "failed (exit 1)\n");
}

TEST_F(RunEnd, finds_a_server_that_listens_after_text_without_a_line_feed) {
    const std::string await = ". lab/lib/trace.sh; AFTER= JOB_PID[server]=$$; await_server";
    write("server.log", "Waiting for a client... lab: the server listens\n");
    const auto found = with_functions(await);
    EXPECT_EQ(found.exit_code, 0) << found.all();
    write("server.log", "Waiting for a client...\n");
    EXPECT_EQ(with_functions(await).exit_code, 1);
}

TEST_F(RunEnd, text_of_a_traced_program_may_end_without_a_line_feed) {
    write("client.log", "done");
    write("client.jsonl", "{}\n");
    EXPECT_EQ(with_functions("check_run; echo \"$INCOMPLETE\"").out,
              "client.log ends in the middle of a line\n");
    EXPECT_EQ(with_functions(". lab/lib/trace.sh; check_run; echo \"$INCOMPLETE\"").out, "\n");
    write("client.jsonl", "{");
    EXPECT_EQ(with_functions(". lab/lib/trace.sh; check_run; echo \"$INCOMPLETE\"").out,
              "client.jsonl ends in the middle of a line\n");
}

// A capture that has ended. The rocewire of this test has counted `passed` packets, the server's device
// those in run.json.
class Capture : public RunEnd {
  protected:
    Capture() {
        std::filesystem::copy("captures/samples/01_cm_write_read/annotated.pcapng",
                              dir_.str() + "/wire.pcapng");
        packets_ = std::stoi(with_functions("packets_in wire.pcapng").out);
        write_counters(0, 0);
    }
    // Stops a capture whose log has these lines. passed < 0: without the link emulator.
    support::Outcome stopped(int passed, const std::string& log, const std::string& then) const {
        write("capture.log", "rocecap: ready, capturing\n" + log);
        return with_functions(
            (passed < 0 ? "LINK_RECORDS=; LAB_BACKEND=ssh" : "LINK_RECORDS=1; LAB_BACKEND=vm") +
            std::string(
                "; HOST_DEVICE[server]=rxe0/1; sleep 100 & JOB_PID[capture]=$!; sleeper=$!\n") +
            "stop_job() { kill \"$sleeper\"; JOB_STATUS[$1]=0; }\n"
            "rocewire() { echo '{\"hosts\":[{\"name\":\"client\"},{\"name\":\"server\","
            "\"recorded_packets\":" +
            std::to_string(passed) +
            "}]}'; }\n"
            "stop_capture; check_run; " +
            then);
    }
    std::string incomplete(int passed, const std::string& log) const {
        const auto outcome = stopped(passed, log, "echo \"$INCOMPLETE\"");
        EXPECT_EQ(outcome.err, "");
        return outcome.out;
    }
    void write_counters(int sent, int received, const std::string& netem = "null") const {
        const auto counters = [](int sent_then, int received_then) {
            return R"({"rxe0/1":{"sent_pkts":)" + std::to_string(sent_then) + R"(,"rcvd_pkts":)" +
                   std::to_string(received_then) + "}}";
        };
        write("run.json", R"({"hosts":{"server":{"netem":)" + netem + R"(,"counters":{"before":)" +
                              counters(100, 200) + R"(,"after":)" +
                              counters(100 + sent, 200 + received) + "}}}}");
    }
    std::string counts(int packets, int dropped = 0) const {
        return "rocecap: " + std::to_string(packets) + " packets captured, " +
               std::to_string(dropped) + " dropped by the kernel, 0 dropped by the interface\n";
    }

    int packets_ = 0;
};

TEST_F(Capture, is_complete_if_it_has_what_passed_the_link) {
    ASSERT_GT(packets_, 0);
    EXPECT_EQ(incomplete(packets_, counts(packets_)), "\n");
    EXPECT_EQ(incomplete(packets_, counts(packets_) + "Connection to 127.0.0.1 closed.\n"), "\n")
        << "the counts need not be the last line";
}

TEST_F(Capture, tells_what_is_missing) {
    const std::string all = std::to_string(packets_);
    EXPECT_EQ(incomplete(packets_ + 2, counts(packets_)),
              "wire.pcapng has " + all + " of the " + std::to_string(packets_ + 2) +
                  " packets that the link emulator carried from and to the server\n");
    EXPECT_EQ(incomplete(packets_ + 2, counts(packets_, 2)), "\n") << "the summary has these";
    EXPECT_EQ(incomplete(packets_, counts(packets_ + 1)), "wire.pcapng has " + all + " of the " +
                                                              std::to_string(packets_ + 1) +
                                                              " packets that were captured\n");
    EXPECT_EQ(incomplete(packets_, ""),
              "wire.pcapng has no count of its packets: the capture on the server ended without "
              "one\n");
}

TEST_F(Capture, tells_what_it_lacks_of_the_packets_of_the_servers_device) {
    const auto summary = [this](int passed) {
        const auto outcome =
            stopped(passed, counts(packets_),
                    "LAB_HOSTS=(server) LAB_ROOT=. RUN_STARTED=0; record_end; summary 0");
        EXPECT_NE(outcome.err.find(" packets captured"), std::string::npos) << outcome.all();
        const auto begin = outcome.err.find("that is ");
        return begin == std::string::npos
                   ? std::string()
                   : outcome.err.substr(begin, outcome.err.find(':', begin) - begin);
    };
    write_counters(3, packets_ - 3);
    EXPECT_EQ(incomplete(-1, counts(packets_)), "\n");
    EXPECT_EQ(summary(-1), "");
    write_counters(3, packets_ - 1);
    EXPECT_EQ(incomplete(-1, counts(packets_)), "\n") << "the others may be encrypted";
    EXPECT_EQ(summary(-1), "that is 2 less than the device counted");
    EXPECT_EQ(summary(packets_), "") << "the link emulator knows better";
    write_counters(3, packets_ - 1, "\"loss 5%\"");
    EXPECT_EQ(summary(-1), "") << "netem may have dropped them";
    write_counters(-5, packets_ + 9);
    EXPECT_EQ(summary(-1), "") << "the counters were reset";
}

// QEMU before 7.2 listens on a TCP port for the link.
TEST(LinkPort, is_chosen_again_if_another_process_takes_it) {
    const auto tries = [](const std::string& reason, int successful) {
        const std::string script = R"(
            set -euo pipefail; . lab/lib/common.sh; . lab/vm/qemu.sh; n=0 why=$0 good=$1
            start_qemu() { ((++n == good)) || { FAILURE=$why; return 1; }; }
            start_guest server tcg && echo "started by try $n" || echo "failed in try $n")";
        return support::run({"bash", "-c", script, reason, std::to_string(successful)}).out;
    };
    EXPECT_EQ(tries("can't bind to socket: Address already in use", 2), "started by try 2\n");
    EXPECT_EQ(tries("can't bind to socket: Address already in use", 9), "failed in try 3\n");
    EXPECT_EQ(tries("no such device", 2), "failed in try 1\n");
}

}  // namespace run_test
