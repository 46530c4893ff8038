// rocecap check of a capture that was made at one place.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "tools/rocecap/check_run.hpp"

namespace check_command_test {

using namespace check_run;

// A capture at one host.
class OnePoint {
  public:
    explicit OnePoint(const std::string& name) : temp_("check_one_" + name + ".pcapng") {
        writer_.emplace(capture::Sink::create(path()), capture::PcapngSection{});
        interface_ = writer_->add_interface(named("eth0"));
    }

    std::string path() const { return temp_.str(); }

    void wait(std::int64_t ns) { now_ += ns; }
    void add(const wire::Packet& packet, std::uint8_t flip_last_bits = 0) {
        auto frame = wire::encode(packet);
        frame.back() ^= std::byte{flip_last_bits};
        now_ += 5'000;
        writer_->packet(interface_,
                        {.time = capture::Time(now_),
                         .bytes = util::Bytes(frame).first(std::min(frame.size(), snaplen)),
                         .original_length = static_cast<std::uint32_t>(frame.size())});
    }

    /// The file says that the capture dropped so many packets.
    void drop(std::uint64_t packets) {
        capture::PcapngStatistics statistics;
        statistics.dropped_by_kernel = packets;
        writer_->statistics(interface_, statistics);
    }

    std::size_t snaplen = SIZE_MAX;

    support::Outcome run(const char* command) {
        writer_->flush();
        return support::run({support::rocecap(), command, path()});
    }
    support::Outcome check(support::Argv options = {}) {
        writer_->close();
        options.insert(options.begin(), {support::rocecap(), "check", path()});
        return support::run(options);
    }

  private:
    support::TempPath temp_;
    std::optional<capture::PcapngWriter> writer_;
    std::uint32_t interface_ = 0;
    std::int64_t now_ = 1'000'000'000;
};

constexpr const char* requester_address = "192.0.2.1";
constexpr const char* responder_address = "192.0.2.2";

// Without its AETH, the NAK looks like an ACK, and without its RETH, a READ takes one PSN.
TEST(CheckCommand, a_half_whose_headers_were_cut_off_is_not_judged) {
    OnePoint capture("cut");
    capture.snaplen = 54;
    capture.add(send_one(0));
    capture.add(acknowledge(0, 1));
    capture.add(read_part(1, 3));
    capture.add(send_one(5));
    capture.add(nak(4, 2));
    const auto outcome = capture.check({"--at", requester_address});
    EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
    EXPECT_TRUE(has(outcome, "\nNothing was judged.\n")) << outcome.out;
    EXPECT_NE(
        outcome.err.find("Nothing was judged: the capture cut off headers of all connections. "),
        std::string::npos)
        << outcome.err;
    EXPECT_NE(outcome.out.find("    cannot be judged  requests of 192.0.2.1: 3; 2 responses\n"
                               "                    the capture cut off headers of 3 packets: "
                               "capture at least 384 bytes of each\n"),
              std::string::npos)
        << outcome.out;
    EXPECT_EQ(outcome.out.find("nak-psn"), std::string::npos) << outcome.out;
}

// A request is lost after it left the requester's host. The capture has the NAK and the
// retransmission.
TEST(CheckCommand, a_loss_elsewhere_is_no_deviation_of_a_capture_of_one_place) {
    OnePoint capture("loss");
    capture.add(send_one(0));
    capture.add(acknowledge(0, 1));
    capture.add(send_one(1));
    capture.add(send_one(2));
    capture.add(nak(1, 1));
    capture.add(send_one(1));
    capture.add(send_one(2));
    capture.add(acknowledge(2, 3));
    for (const support::Argv& options : {support::Argv{}, {"--at", requester_address}}) {
        const auto outcome = capture.check(options);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
        EXPECT_TRUE(has(outcome, "\nCannot be judged\n")) << outcome.out;
        EXPECT_TRUE(has(outcome, "nak-without-cause")) << outcome.out;
        EXPECT_TRUE(has(outcome, "requests of 192.0.2.1: 5, 2 of them retransmitted; 3 responses"))
            << outcome.out;
        EXPECT_FALSE(has(outcome, "link")) << outcome.out;
    }
    EXPECT_TRUE(has(capture.check({"--at", requester_address}),
                    "Captured at 192.0.2.1. This host is judged."));
    EXPECT_TRUE(has(capture.check(), "Captured at one place (name its host with --at)."));
    // In a capture at the responder, no packet is missing, so the NAK has no cause.
    const auto there = capture.check({"--at", responder_address, "--json"});
    EXPECT_EQ(there.exit_code, 1) << there.all();
    const json object = json::parse(there.out);
    EXPECT_EQ(object["frames"], 8);
    EXPECT_EQ(object["captured_at"], "192.0.2.2");
    ASSERT_GE(object["deviations"].size(), 1U);
    EXPECT_EQ(object["deviations"][0]["code"], "nak-without-cause");
}

// As a capture of all interfaces has each packet of a bridge.
TEST(CheckCommand, a_packet_that_was_captured_twice_is_judged_once) {
    OnePoint capture("twice");
    std::uint16_t id = 0;
    const auto add = [&](wire::Packet packet) {
        packet.ipv4->id = ++id;
        capture.add(packet);
        capture.add(packet);
    };
    add(send_one(0));
    add(acknowledge(0, 1));
    add(read_part(1, 3));
    for (std::uint32_t i = 0; i < 3; ++i)
        add(response(1, i, 3, 2));
    add(send_one(5));  // the one before was lost
    add(nak(4, 2));
    add(send_one(4));
    add(acknowledge(4, 3));
    add(send_one(5));
    add(acknowledge(5, 3, 0x63));
    const json object = json::parse(capture.check({"--at", responder_address, "--json"}).out);
    EXPECT_EQ(object["deviations"], json::array()) << object;
    EXPECT_EQ(object["cannot_be_judged"], (json{{"psn-skipped", 1}})) << object;
}

TEST(CheckCommand, what_the_captured_host_did_is_judged) {
    OnePoint capture("requester");
    capture.add(send_one(0));
    capture.add(acknowledge(0, 1));
    capture.add(send_one(2));
    EXPECT_EQ(capture.check().exit_code, 0);
    EXPECT_EQ(capture.check({"--at", responder_address}).exit_code, 0);
    const auto outcome = capture.check({"--at", requester_address});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_TRUE(has(outcome, "psn-skipped               #1  192.0.2.1 as requester"))
        << outcome.out;
    EXPECT_EQ(capture.check({"--at", requester_address, "--lossy"}).exit_code, 0);
}

TEST(CheckCommand, packets_that_the_file_counts_as_dropped_are_missing) {
    for (const std::uint64_t dropped : {0, 1, 12}) {
        OnePoint capture("dropped");
        capture.add(send_one(0));
        capture.add(acknowledge(0, 1));
        capture.add(send_one(2));
        capture.drop(dropped);
        const std::string note =
            fmt::format("rocecap: the capture lacks {}: it dropped them, says its file.\n",
                        dropped == 1 ? "1 packet" : "12 packets");
        for (const char* command : {"flows", "explain"}) {
            const auto outcome = capture.run(command);
            EXPECT_EQ(outcome.err.find(note) != std::string::npos, dropped != 0) << outcome.all();
        }
        const auto outcome = capture.check({"--at", requester_address});
        EXPECT_EQ(outcome.exit_code, dropped == 0 ? 1 : 0) << outcome.all();
        EXPECT_EQ(has(outcome, "Packets may be missing"), dropped != 0) << outcome.all();
        EXPECT_EQ(outcome.err.find(note) != std::string::npos, dropped != 0) << outcome.all();
    }
}

TEST(CheckCommand, what_no_missing_packet_explains_is_judged_wherever_the_capture_was_made) {
    OnePoint capture("certain");
    capture.add(send_one(0));
    capture.add(acknowledge(3, 1));
    capture.wait(20'000'000);
    capture.add(send_one(1));
    const auto outcome = capture.check();
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_TRUE(has(outcome, "ack-beyond")) << outcome.out;
    EXPECT_EQ(capture.check({"--lossy"}).exit_code, 0) << "the capture may lack the requests";
}

TEST(CheckCommand, an_acknowledged_request_that_was_never_captured_is_missing) {
    OnePoint capture("missing");
    capture.add(send_one(0));
    capture.add(acknowledge(0, 1));
    capture.add(send_one(3));
    capture.add(acknowledge(3, 4));
    const auto outcome = capture.check({"--at", requester_address});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(
        outcome.out.find(
            "    cannot be judged  requests of 192.0.2.1: 2; 2 responses\n"
            "                    1 place cannot be judged\n"
            "                    the capture lacks requests of 2 PSNs, from PSN 0x000001 on, "
            "although they were\n"
            "                    acknowledged (frame 4): what a missing packet may explain is "
            "not judged\n"),
        std::string::npos)
        << outcome.out;
    const auto json = json::parse(capture.check({"--at", requester_address, "--json"}).out);
    EXPECT_EQ(json["connections"][0]["forward"]["missing_psns"], 2);
}

TEST(CheckCommand, a_run_tells_whether_the_capture_has_all_packets) {
    OnePoint capture("whole");
    capture.add(send_one(0));
    capture.add(acknowledge(0, 1));
    capture.add(send_one(3));
    capture.add(acknowledge(3, 4));
    EXPECT_TRUE(has(capture.check(), "If packets may be missing, use --lossy."));
    EXPECT_TRUE(has(capture.check({"--lossy"}), "Packets may be missing: "));
    const support::TempPath run("check_whole_run");
    std::filesystem::create_directories(run.str());
    std::filesystem::copy_file(capture.path(), run.str() + "/wire.pcapng");
    for (const int dropped : {0, 3}) {
        SCOPED_TRACE(dropped);
        std::ofstream(run.str() + "/run.json")
            << json{{"hosts",
                     {{"client", {{"address", requester_address}}},
                      {"server", {{"address", responder_address}}}}},
                    {"capture", {{"dropped", dropped}}}};
        const auto check = support::run({support::rocecap(), "check", run.str()});
        EXPECT_EQ(has(check, "The capture dropped no packet."), dropped == 0) << check.out;
        EXPECT_EQ(has(check, "Packets may be missing: "), dropped != 0);
        EXPECT_EQ(has(check, "ack-beyond  "), dropped == 0);
        const auto explain = support::run({support::rocecap(), "explain", run.str()});
        EXPECT_EQ(has(explain, "incomplete-capture"), dropped != 0) << explain.out;
        EXPECT_EQ(has(explain, "deviation"), dropped == 0);
    }
}

TEST(CheckCommand, an_icrc_counts_only_where_the_packet_arrived) {
    OnePoint capture("icrc");
    capture.add(send_one(0), 0xff);
    capture.add(acknowledge(0, 1));
    EXPECT_EQ(capture.check().exit_code, 0);
    EXPECT_EQ(capture.check({"--at", requester_address}).exit_code, 0);
    const auto outcome = capture.check({"--at", responder_address});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.all();
    EXPECT_TRUE(has(outcome, "icrc-answered")) << outcome.out;
}

TEST(CheckCommand, run_logs_tell_timers_and_roles_of_a_capture) {
    LinkRun run("logs");
    run.tell({});
    OnePoint capture("logs");
    capture.add(send_one(0));
    capture.add(acknowledge(0, 1));
    const auto outcome = capture.check({"--log", run.path() + "/client.jsonl", "--log",
                                        run.path() + "/server.jsonl", "--at", requester_address});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(has(outcome, "Captured at client 192.0.2.1.")) << outcome.out;
    EXPECT_TRUE(has(outcome, "#1  client 192.0.2.1 qp 0x22 ↔ server 192.0.2.2 qp 0x11  path MTU"))
        << outcome.out;
}

TEST(CheckCommand, a_run_s_capture_was_made_at_the_server) {
    LinkRun run("wire");
    run.tell({});
    OnePoint capture("wire");
    capture.add(send_one(0));
    capture.add(acknowledge(0, 1));
    EXPECT_EQ(capture.check().exit_code, 0);
    std::filesystem::rename(run.link_capture(), run.path() + "/gone");
    std::filesystem::copy_file(capture.path(), run.path() + "/wire.pcapng");
    const auto outcome = run.check();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(has(outcome, "Captured at server 192.0.2.2.")) << outcome.out;
}

TEST(CheckCommand, refuses_a_place_that_is_none) {
    OnePoint capture("place");
    capture.add(send_one(0));
    const auto says = [](const support::Outcome& outcome, const std::string& text) {
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_NE(outcome.err.find(text), std::string::npos) << outcome.err;
    };
    says(capture.check({"--at", "here"}), "--at: 'here' is not an IPv4 or IPv6 address.");
    says(capture.check({"--at", "192.0.2.9"}), "is from or to 192.0.2.9.");
    LinkRun run("place");
    run.pass(send_one(0));
    says(run.check({"--at", requester_address}), "--at needs a capture from one place");
}

}  // namespace check_command_test
