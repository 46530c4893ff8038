// Merged captures of both ends of a path: rocecap check and explain with --end, with --interface, and
// their message without either.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tools/rocecap/check_run.hpp"

namespace both_ends_command_test {

using namespace check_run;

constexpr const char* client_end = "client0=192.0.2.1";
constexpr const char* server_end = "server0=192.0.2.2";

// A merged capture of a client, which sends requests, at interface client0 and of a server at
// server0.
class Merged {
  public:
    // `ahead`: nanoseconds by which the server's clock is ahead.
    explicit Merged(const std::string& name, std::int64_t ahead = 0)
        : temp_("merged_" + name + ".pcapng"), ahead_(ahead) {
        writer_.emplace(capture::Sink::create(path()), capture::PcapngSection{});
        client_ = writer_->add_interface(named("client0"));
        server_ = writer_->add_interface(named("server0"));
    }

    std::string path() const { return temp_.str(); }

    void request(const wire::Packet& packet) { pass(packet, client_, server_); }
    void respond(const wire::Packet& packet) { pass(packet, server_, client_); }
    void lose_request(const wire::Packet& packet) { add(packet, client_); }
    void wait(std::int64_t ns) { now_ += ns; }

    // Adds a lost request and its recovery.
    void add_recovery() {
        request(send_one(0));
        respond(acknowledge(0, 1));
        lose_request(send_one(1));
        request(send_one(2));
        respond(nak(1, 1));
        request(send_one(1));
        request(send_one(2));
        respond(acknowledge(2, 3));
    }

    support::Outcome run(const char* command, support::Argv options = {}) {
        if (writer_) {
            writer_->close();
            writer_.reset();
            // Sorts the packets by time, as mergecap does.
            const support::TempPath sorted("sorted.pcapng");
            EXPECT_EQ(support::run({"reordercap", path(), sorted.str()}).exit_code, 0);
            std::filesystem::copy_file(sorted.str(), path(),
                                       std::filesystem::copy_options::overwrite_existing);
        }
        options.insert(options.begin(), {support::rocecap(), command, path()});
        return support::run(options);
    }

    void snap_at_server(std::size_t bytes) { snap_ = bytes; }
    // The last byte before the ICRC changes on the way.
    void damage_request(const wire::Packet& packet) {
        add(packet, client_);
        auto frame = wire::encode(packet);
        frame[frame.size() - 5] ^= std::byte{1};
        add(frame, server_);
    }

  private:
    void pass(const wire::Packet& packet, std::uint32_t from, std::uint32_t to) {
        add(packet, from);
        // A router changes the MAC addresses and decrements the TTL.
        auto routed = packet;
        if (routed.ethernet)
            routed.ethernet->src.bytes[5] ^= 0xffU;
        if (routed.ipv4)
            --routed.ipv4->ttl;
        add(routed, to);
    }
    void add(const wire::Packet& packet, std::uint32_t interface) {
        add(wire::encode(packet), interface);
    }
    void add(std::vector<std::byte> frame, std::uint32_t interface) {
        const std::size_t length = frame.size();
        if (interface == server_)
            frame.resize(std::min(length, snap_));
        now_ += 5'000;
        writer_->packet(interface,
                        {.time = capture::Time(now_ + (interface == server_ ? ahead_ : 0)),
                         .bytes = frame,
                         .original_length = static_cast<std::uint32_t>(length)});
    }

    support::TempPath temp_;
    std::int64_t ahead_;
    std::optional<capture::PcapngWriter> writer_;
    std::uint32_t client_ = 0;
    std::uint32_t server_ = 0;
    std::size_t snap_ = SIZE_MAX;  // bytes of each frame at the server
    std::int64_t now_ = 1'000'000'000;
};

TEST(MergedCapture, both_ends_are_judged_as_both_sides_of_a_link) {
    Merged capture("both");
    capture.add_recovery();
    const auto outcome = capture.run("check", {"--end", client_end, "--end", server_end});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(has(outcome, "requests of 192.0.2.1: 5, 2 of them retransmitted; 3 responses"))
        << outcome.out;
    EXPECT_TRUE(has(outcome, "on the link: 1 lost")) << outcome.out;
    EXPECT_TRUE(has(outcome, "No deviation from the specification.")) << outcome.out;
    EXPECT_EQ(outcome.err, "");
}

// A packet is not called lost if the capture at the server may have ended before it came.
TEST(MergedCapture, shows_that_the_path_lost_a_packet) {
    for (const bool goes_on : {true, false}) {
        Merged capture("lost");
        capture.add_recovery();
        capture.wait(20'000'000);
        if (goes_on)
            capture.request(send_one(3));
        const auto outcome = capture.run("explain", {"--end", client_end, "--end", server_end});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
        EXPECT_EQ(outcome.err, "");
        EXPECT_EQ(has(outcome, "1. loss (certain, not fatal)  192.0.2.1 → 192.0.2.2, QP"), goes_on)
            << outcome.out;
        EXPECT_EQ(has(outcome, "1 packet was lost between 192.0.2.1 and 192.0.2.2, and 2 packets"),
                  goes_on)
            << outcome.out;
        EXPECT_EQ(has(outcome, "RC SEND Only  PSN 0x000001  64 B  (did not arrive)"), goes_on)
            << outcome.out;
    }
}

TEST(MergedCapture, counts_the_datagrams_that_the_path_lost) {
    Merged capture("datagrams");
    for (std::uint32_t psn = 0; psn < 10; ++psn) {
        const auto sent = datagram({.from = 1, .to = 2, .qpn = 9}, 8, psn);
        if (psn == 4)
            capture.lose_request(sent);
        else
            capture.request(sent);
        capture.wait(5'000'000);
    }
    const auto outcome = capture.run("explain", {"--end", client_end, "--end", server_end});
    EXPECT_TRUE(has(outcome, "1. loss (certain, not fatal)")) << outcome.all();
    EXPECT_TRUE(
        has(outcome, "1 packet was lost between 192.0.2.1 and 192.0.2.2, of 10 in all: the"))
        << outcome.out;
    EXPECT_TRUE(has(outcome, "PSN 0x000004")) << outcome.out;
}

// The capture at the server has fewer bytes of each packet.
TEST(MergedCapture, of_which_one_end_has_less_of_each_packet_shows_the_same) {
    Merged capture("cut_at_server");
    capture.snap_at_server(112);
    capture.add_recovery();
    capture.wait(20'000'000);
    capture.request(send_one(3));
    const auto outcome = capture.run("explain", {"--end", client_end, "--end", server_end});
    EXPECT_TRUE(has(outcome, "1 packet was lost between 192.0.2.1 and 192.0.2.2, and 2 packets"))
        << outcome.all();
    EXPECT_TRUE(has(capture.run("check", {"--end", client_end, "--end", server_end}),
                    "on the link: 1 lost"));
}

TEST(MergedCapture, whose_packet_was_changed_on_the_way_says_so) {
    Merged capture("changed");
    capture.request(send_one(0));
    capture.respond(acknowledge(0, 1));
    capture.damage_request(send_one(1));
    capture.wait(67'000'000);
    capture.request(send_one(1));
    capture.respond(acknowledge(1, 2));
    const auto outcome = capture.run("explain", {"--end", client_end, "--end", server_end});
    EXPECT_TRUE(has(outcome, "1. corruption (certain, not fatal)")) << outcome.all();
    EXPECT_FALSE(has(outcome, "loss")) << outcome.out;
}

TEST(MergedCapture, a_deviation_is_seen_that_one_place_would_excuse) {
    Merged capture("deviation");
    capture.request(send_one(0));
    capture.respond(nak(0, 0));
    const auto outcome = capture.run("check", {"--end", client_end, "--end", server_end});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_TRUE(has(outcome, "nak-without-cause")) << outcome.out;
}

TEST(MergedCapture, clocks_that_differ_are_told_with_the_shift_that_helps) {
    for (const std::int64_t ahead : {-500'000'000, 500'000'000}) {
        Merged capture("clocks", ahead);
        capture.add_recovery();
        const auto outcome = capture.run("check", {"--end", client_end, "--end", server_end});
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_NE(outcome.err.find(ahead < 0 ? "the capture of 'server0' with 'editcap -t 0.5000"
                                             : "the capture of 'client0' with 'editcap -t 0.5000"),
                  std::string::npos)
            << outcome.err;
        EXPECT_EQ(outcome.out, "");
    }
}

TEST(MergedCapture, one_interface_is_a_capture_of_one_place) {
    Merged capture("one");
    capture.add_recovery();
    const auto outcome = capture.run("check", {"--interface", "client0", "--at", "192.0.2.1"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(has(outcome, "No deviation from the specification in what can be")) << outcome.out;
    EXPECT_EQ(outcome.err, "");
}

TEST(MergedCapture, a_packet_of_both_ends_counts_once) {
    Merged capture("once");
    capture.add_recovery();
    const std::string sentence =
        "7 of 15 RoCE packets were captured again, such as on interface 1 ('server0') after "
        "interface 0 ('client0'): each counts once.";
    for (const char* command : {"check", "explain", "flows"})
        EXPECT_NE(capture.run(command).err.find(sentence), std::string::npos) << command;
    EXPECT_NE(capture.run("flows").out.find("8 packets"), std::string::npos);
    const auto one = capture.run("flows", {"--interface", "server0"});
    EXPECT_EQ(one.err, "");
    EXPECT_NE(one.out.find("7 packets"), std::string::npos) << one.out;
}

// Their clocks differ by more than what a copy needs. Two of client0's packets are equal.
TEST(MergedCapture, packets_that_may_be_there_twice_are_told) {
    Merged capture("twice", 10'000'000);
    capture.add_recovery();
    const std::string sentence =
        "rocecap: 6 of 15 RoCE packets appear twice, on interface 0 ('client0') and on interface 1 "
        "('server0'), and each second copy looks like a retransmission: ";
    EXPECT_EQ(capture.run("check").err,
              sentence + "choose one with --interface, or name the host of each with --end.\n");
    EXPECT_EQ(capture.run("explain").err,
              sentence + "choose one with --interface, or name the host of each with --end.\n");
    const auto flows = capture.run("flows");
    EXPECT_EQ(flows.exit_code, 0) << flows.all();
    EXPECT_EQ(flows.err, sentence + "--interface chooses one of the two.\n");
}

TEST(MergedCapture, what_comes_before_the_end_of_a_file_that_breaks_off_is_judged) {
    Merged capture("cut");
    capture.add_recovery();
    capture.run("check");  // writes the file
    for (const char* format : {"pcapng", "pcap"}) {
        const support::TempPath cut("cut.capture");
        ASSERT_EQ(support::run({"editcap", "-F", format, capture.path(), cut.str()}).exit_code, 0);
        std::filesystem::resize_file(cut.str(), std::filesystem::file_size(cut.str()) - 10);
        const auto outcome = support::run({support::rocecap(), "check", cut.str()});
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_TRUE(has(outcome, "#1  192.0.2.1 qp ")) << outcome.all();
        EXPECT_NE(outcome.err.find(cut.str()), std::string::npos) << outcome.err;
    }
}

TEST(MergedCapture, wrong_use_is_a_sentence) {
    Merged capture("wrong");
    capture.add_recovery();
    const auto says = [&](const support::Argv& options, const std::string& sentence) {
        for (const char* command : {"check", "explain"}) {
            const auto outcome = capture.run(command, options);
            EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
            EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
            EXPECT_EQ(outcome.out, "");
        }
    };
    says({"--end", client_end}, "give the option twice");
    says({"--end", "client0", "--end", server_end},
         "'client0' is not valid: give an interface and its host's address, as in eth0=192.0.2.1.");
    says({"--end", "=192.0.2.1", "--end", server_end}, "give an interface and");
    says({"--end", client_end, "--end", server_end, "--at", "192.0.2.1"},
         "omit --at and --interface.");
    says({"--end", client_end, "--end", "eth9=192.0.2.2"},
         "the capture has no packet between these hosts on interface 'eth9'");
}

}  // namespace both_ends_command_test
