// Runs rocecap live on the loopback interface, with packets that the test sends.
#include <csignal>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/rocecap/live_command.hpp"

namespace {

using namespace std::chrono_literals;
using live_test::lines;
using live_test::live;
using live_test::LiveCommand;
using nlohmann::json;
using support::Process;
using support::rocecap;

TEST_F(LiveCommand, says_when_it_is_ready_and_how_much_it_got) {
    Process capture(live({"-c", "3"}));
    expect_ready(capture);
    send(3);
    const auto outcome = capture.wait(10s);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(lines(outcome.out), 3);
    EXPECT_EQ(outcome.err.rfind("rocecap: ready, capturing on lo (filter: udp port 4791", 0), 0U);
    EXPECT_NE(outcome.err.find("rocecap: 3 packets captured, 0 dropped by the kernel, 0 dropped "
                               "by the interface\n"),
              std::string::npos)
        << outcome.err;
}

TEST_F(LiveCommand, a_signal_ends_it_with_all_packets_that_had_passed) {
    for (const int number : {SIGINT, SIGTERM}) {
        Process capture(live({"-q", "-w", path_}));
        expect_ready(capture);
        send(500);
        capture.signal(number);
        const auto outcome = capture.wait(10s);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
        EXPECT_NE(outcome.err.find("500 packets captured"), std::string::npos) << outcome.err;
        EXPECT_EQ(packets_in_file(), 500);
    }
}

TEST_F(LiveCommand, a_duration_ends_it) {
    const auto outcome = support::run(live({"-d", "0.3"}));
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_GE(outcome.took, 300ms);
    EXPECT_LT(outcome.took, 5s);
}

TEST_F(LiveCommand, passes_a_stream_on_while_it_captures) {
    Process capture({"bash", "-c", rocecap() + " live -i lo -w - | " + rocecap() + " decode -"});
    expect_ready(capture);
    send(2);
    // The capture continues: the lines appear because each packet is passed on immediately.
    EXPECT_TRUE(capture.await("    2 ", 10s));
    kill(-capture.pid(), SIGTERM);
    capture.wait(10s);
}

// Each line appears when its packet arrives, without waiting for more data.
TEST_F(LiveCommand, tcpdumps_stream_is_decoded_as_it_comes) {
    Process capture(
        {"bash", "-c",
         "tcpdump -i lo -n --immediate-mode -U -w - udp port 4791 | " + rocecap() + " decode -"});
    ASSERT_TRUE(capture.await("listening on lo", 10s));
    for (int packet = 1; packet <= 3; ++packet) {
        send(1);
        ASSERT_TRUE(capture.await("    " + std::to_string(packet) + "  ", 10s)) << packet;
    }
    EXPECT_EQ(kill(-capture.pid(), 0), 0) << "tcpdump had not ended";
    kill(-capture.pid(), SIGTERM);
    const auto outcome = capture.wait(10s);
    EXPECT_EQ(lines(outcome.out), 3) << outcome.all();
}

TEST_F(LiveCommand, ends_when_nobody_reads_any_more) {
    Process capture({"bash", "-c", rocecap() + " live -i lo | true; echo ${PIPESTATUS[0]}"});
    const auto outcome = capture.wait(10s);
    EXPECT_FALSE(outcome.timed_out) << "no packet had to come for it to notice";
    EXPECT_EQ(outcome.out, "0\n") << outcome.all();
}

TEST_F(LiveCommand, keeps_only_so_much_of_each_packet) {
    Process capture(live({"-c", "1", "-s", "60", "--json"}));
    expect_ready(capture);
    send(1);
    const auto outcome = capture.wait(10s);
    const json packet = json::parse(outcome.out);
    EXPECT_EQ(packet["caplen"], 60);
    EXPECT_GT(packet["len"], 60);
    EXPECT_FALSE(packet["truncated"].is_null());
}

TEST_F(LiveCommand, what_it_cannot_do_is_a_sentence_and_leaves_an_older_file_alone) {
    const auto says = [](const support::Argv& argv, const char* text) {
        const auto outcome = support::run(argv);
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_NE(outcome.err.find(text), std::string::npos) << outcome.all();
        EXPECT_EQ(lines(outcome.err), 1) << outcome.err;
    };
    says({rocecap(), "live", "-i", "nope0"}, "there is no interface 'nope0' here: choose one of");
    says(live({"-f", "udp prot 4791"}), "the filter 'udp prot 4791' is not valid");
    says(live({"-w", "/nonexistent/x"}), "cannot write '/nonexistent/x': No such file");
    support::run({"bash", "-c", "echo old > " + path_});
    says({rocecap(), "live", "-i", "nope0", "-w", path_}, "no interface");
    EXPECT_EQ(support::run({"cat", path_}).out, "old\n");
    if (geteuid() == 0)
        says({"setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=-all",
              "--bounding-set=-all", rocecap(), "live", "-i", "lo"},
             "not allowed to capture on lo: run it with sudo");
}

TEST_F(LiveCommand, a_full_disk_is_said_and_the_count_still_comes) {
    Process capture(live({"-q", "-w", "/dev/full"}));
    const auto outcome = capture.wait(10s);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
    EXPECT_NE(outcome.err.find("No space left on device"), std::string::npos) << outcome.err;
}

}  // namespace
