// The output of rocecap live: lines, JSON, files and streams.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/rocecap/live_command.hpp"
#include "util/stop_signal.hpp"

namespace live_output_test {

using namespace std::chrono_literals;
using live_test::lines;
using live_test::live;
using live_test::LiveCommand;
using nlohmann::json;
using support::Process;
using support::rocecap;

using LiveOutput = LiveCommand;

// Waits until the program takes the signal from a descriptor, so that it does not end the program.
bool catches(pid_t pid, int signal) {
    const std::string file = fmt::format("/proc/{}/status", pid);
    for (const auto give_up = util::deadline_in(40s); !util::is_past(give_up);) {
        std::ifstream status(file);
        for (std::string line; std::getline(status, line);)
            if (line.starts_with("SigBlk:") &&
                (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0)
                return true;
        std::this_thread::sleep_for(1ms);
    }
    return false;
}

TEST_F(LiveOutput, a_file_is_written_beside_the_lines_and_has_the_same_packets) {
    Process capture(live({"-c", "20", "-w", path_}));
    expect_ready(capture);
    send(20);
    const auto outcome = capture.wait(10s);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(lines(outcome.out), 20);
    EXPECT_EQ(packets_in_file(), 20);
    const auto decoded = support::run({rocecap(), "decode", path_});
    EXPECT_EQ(decoded.out, outcome.out);
}

TEST_F(LiveOutput, quiet_decodes_nothing) {
    Process capture(live({"-c", "2", "-q", "-w", path_}));
    expect_ready(capture);
    send(2);
    const auto outcome = capture.wait(10s);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(packets_in_file(), 2);
}

TEST_F(LiveOutput, the_file_says_how_it_was_captured) {
    Process capture(live({"-c", "1", "-q", "-w", path_, "-f", "udp dst port 4791", "-s", "100"}));
    ASSERT_TRUE(capture.await("ready, capturing on lo (filter: udp dst port 4791)\n", 10s));
    send(1);
    capture.wait(10s);
    const auto info = support::run({"capinfos", path_});
    for (const char* text :
         {"Capture application: rocecap", "Name = lo", "Filter string = udp dst port 4791",
          "Capture length = 100", "Number of stat entries = 1", "Number of packets = 1"})
        EXPECT_NE(info.out.find(text), std::string::npos) << text << " in\n" << info.all();
}

TEST_F(LiveOutput, json_is_an_object_a_packet) {
    Process capture(live({"-c", "2", "--json"}));
    expect_ready(capture);
    send(2);
    const auto outcome = capture.wait(10s);
    ASSERT_EQ(lines(outcome.out), 2) << outcome.all();
    const json packet = json::parse(outcome.out.substr(outcome.out.find('\n') + 1));
    EXPECT_EQ(packet["frame"], 2);
    EXPECT_EQ(packet["ip"]["dst"], "127.0.0.1");
    EXPECT_EQ(packet["udp"]["dstport"], 4791);
    EXPECT_EQ(packet["bth"]["opcode_name"], "RC RDMA WRITE Only");
    EXPECT_EQ(packet["icrc"]["status"], "bad") << "it is made for other addresses";
}

TEST_F(LiveOutput, a_stream_that_a_signal_ends_is_whole) {
    Process capture({"bash", "-c", "exec " + rocecap() + " live -i lo -w - > " + path_});
    expect_ready(capture);
    send(300);
    capture.signal(SIGTERM);
    EXPECT_EQ(capture.wait(10s).exit_code, 0);
    EXPECT_EQ(packets_in_file(), 300);
    const auto info = support::run({"capinfos", path_});
    EXPECT_NE(info.out.find("Number of stat entries = 1"), std::string::npos) << info.all();
}

TEST_F(LiveOutput, malformed_packets_exit_with_1) {
    Process capture(live({"-c", "1"}));
    expect_ready(capture);
    const std::string short_bth = "too short";
    send(short_bth);
    const auto outcome = capture.wait(10s);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_NE(outcome.out.find("malformed: BTH needs 12 bytes"), std::string::npos) << outcome.out;
}

TEST_F(LiveOutput, what_the_filter_leaves_out_does_not_count) {
    Process capture(live({"-f", "udp port 4791 and greater 1000"}));
    expect_ready(capture);
    send(5);
    capture.signal(SIGINT);
    const auto outcome = capture.wait(10s);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find("rocecap: 0 packets captured"), std::string::npos) << outcome.err;
}

// The process itself has the FIFO open for reading, so that writes do not fail, but nothing reads.
TEST_F(LiveOutput, a_reader_that_does_not_read_holds_up_no_end) {
    for (const std::string end : {"-c 300", "-d 2"}) {
        const std::string command = "mkfifo " + path_ + " && exec 3<>" + path_ + " && rm " + path_ +
                                    " && exec " + rocecap() + " live -i lo -w - " + end + " >&3";
        Process capture({"bash", "-c", command});
        expect_ready(capture);
        for (int i = 0; i < 300; ++i)
            send(std::string(1000, 'x'));
        const auto outcome = capture.wait(30s);
        EXPECT_FALSE(outcome.timed_out) << end;
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_NE(outcome.err.find("gave up writing to standard output: its reader does not read."),
                  std::string::npos)
            << outcome.err;
    }
}

TEST_F(LiveOutput, a_signal_ends_waiting_for_the_reader_of_a_fifo) {
    ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
    for (const int signal : {SIGINT, SIGTERM}) {
        Process capture(live({"-q", "-w", path_}));
        ASSERT_TRUE(catches(capture.pid(), signal));
        capture.signal(signal);
        const auto outcome = capture.wait(10s);
        EXPECT_FALSE(outcome.timed_out);
        EXPECT_EQ(outcome.exit_code, 2);
        EXPECT_EQ(outcome.err, "rocecap: gave up writing to '" + path_ +
                                   "': no program has opened it for reading.\n");
    }
}

TEST_F(LiveOutput, a_fifo_and_the_name_of_standard_output_take_a_capture) {
    ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
    const support::TempPath copy("live_fifo.pcapng");
    Process reader({"bash", "-c", "cat " + path_ + " > " + copy.str()});
    Process capture(live({"-q", "-c", "5", "-w", path_}));
    expect_ready(capture);
    send(5);
    EXPECT_EQ(capture.wait(10s).exit_code, 0);
    EXPECT_EQ(reader.wait(10s).exit_code, 0);
    EXPECT_EQ(packets_in(copy.str()), 5);
    Process named(
        {"bash", "-c", rocecap() + " live -i lo -q -c 5 -w /dev/stdout | cat > " + copy.str()});
    expect_ready(named);
    send(5);
    EXPECT_EQ(named.wait(10s).exit_code, 0);
    EXPECT_EQ(packets_in(copy.str()), 5);
}

// Otherwise, a user who can create the link could choose a file that root then truncates.
TEST_F(LiveOutput, a_symbolic_link_is_refused) {
    const support::TempPath target("live_target");
    std::ofstream(target.str()) << "precious";
    std::filesystem::create_symlink(target.str(), path_);
    const auto outcome = support::run(live({"-q", "-d", "0", "-w", path_}));
    EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
    EXPECT_EQ(outcome.err, "rocecap: cannot write '" + path_ +
                               "': it is a symbolic link. Give the path of its target.\n");
    EXPECT_EQ(std::filesystem::file_size(target.str()), 8U);
}

// The file ends with a complete packet, wherever the size limit is.
TEST_F(LiveOutput, a_capture_that_could_not_be_written_whole_says_so_and_can_be_read) {
    for (const std::string& to : {"-w " + path_, "-w - > " + path_}) {
        Process capture({"bash", "-c", "ulimit -f 16; exec " + rocecap() + " live -i lo -q " + to});
        expect_ready(capture);
        for (int i = 0; i < 50; ++i)
            send(std::string(1000, 'x'));
        capture.signal(SIGTERM);
        const auto outcome = capture.wait(10s);
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        const std::string file = to == "-w " + path_ ? "'" + path_ + "'" : "standard output";
        EXPECT_NE(outcome.err.find("\nrocecap: capture incomplete: cannot write to " + file +
                                   ": File too large.\n"),
                  std::string::npos)
            << outcome.err;
        EXPECT_NEAR(packets_in_file(), 14, 1) << to;
    }
}

TEST_F(LiveOutput, a_full_disk_is_said_and_leaves_a_capture_that_can_be_read) {
    std::filesystem::create_directory(path_);
    const auto in_namespace = [&](const std::string& command) -> support::Argv {
        return {"unshare", "--mount", "bash", "-c",
                "mount -t tmpfs -o size=64k none " + path_ + " && cd " + path_ + " && " + command};
    };
    if (support::run(in_namespace("true")).exit_code != 0)
        GTEST_SKIP() << "cannot mount a small file system here";
    Process capture(in_namespace(rocecap() + " live -i lo -q -w run.pcapng --user root; echo $?; " +
                                 "tshark -r run.pcapng | wc -l"));
    expect_ready(capture);
    for (int i = 0; i < 100; ++i)
        send(std::string(1000, 'x'));
    const auto outcome = capture.wait(30s);
    EXPECT_NE(outcome.err.find("rocecap: capture incomplete: cannot write to 'run.pcapng': No "
                               "space left on device.\n"),
              std::string::npos)
        << outcome.err;
    int status = 0;
    int packets = 0;
    std::istringstream(outcome.out) >> status >> packets;
    EXPECT_EQ(status, 2);
    EXPECT_GT(packets, 50) << outcome.all();
    EXPECT_LT(packets, 64);
}

// The program's other descriptors must not reuse the number of the closed one.
TEST_F(LiveOutput, a_closed_standard_output_is_said) {
    Process capture({"bash", "-c", "exec " + rocecap() + " live -i lo -w - >&-"});
    const auto outcome = capture.wait(10s);
    EXPECT_FALSE(outcome.timed_out);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(
        outcome.err,
        "rocecap: capture incomplete: cannot write to standard output: Bad file descriptor.\n");
}

}  // namespace live_output_test
