// Runs rocecap decode.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/rocecap/capture_file.hpp"

namespace decode_test {

using nlohmann::json;
using support::rocecap;

class DecodeCommand : public testing::Test {
  protected:
    void add(const std::vector<std::byte>& bytes, std::size_t length = 0) {
        file_.add(bytes, length);
    }
    static std::vector<std::byte> write_only(std::size_t payload = 64) {
        return rocecap_test::frame_of(0x0a, payload);
    }
    support::Outcome decode(const support::Argv& options = {}) const {
        return file_.run("decode", options);
    }

    rocecap_test::CaptureFile file_{"decode.pcapng"};
    std::string path_ = file_.path();
};

TEST_F(DecodeCommand, lists_a_line_for_each_packet) {
    add(write_only());
    add(wire::encode(
        wire_test::sample_packet(*wire::find_opcode(0x11), wire_test::Network::Ipv6, 0)));
    const auto outcome = decode();
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out,
              "    1   0.000000  192.0.2.2 → 192.0.2.1  RC RDMA WRITE Only           psn 0xfffffe "
              "qp 0x012345 ack-req solicited becn va 0x7f00112233445566 rkey 0xdeadbeef len 66051 "
              "payload 64\n"
              "    2   0.000001  2001:db8::2 → 2001:db8::1  RC Acknowledge               psn "
              "0xfffffe qp 0x012345 ack-req solicited becn ACK msn 2763564\n");
}

TEST_F(DecodeCommand, json_is_an_object_a_line_with_wiresharks_names) {
    add(write_only());
    const auto outcome = decode({"--json"});
    EXPECT_EQ(outcome.exit_code, 0);
    const json packet = json::parse(outcome.out);
    EXPECT_EQ(packet["frame"], 1);
    EXPECT_EQ(packet["t_ns"], 1'000'000'000);
    EXPECT_EQ(packet["bth"]["opcode_name"], "RC RDMA WRITE Only");
    EXPECT_EQ(packet["reth"]["r_key"], 0xdeadbeefU);
    EXPECT_EQ(packet["payload_len"], 64);
    EXPECT_EQ(packet["icrc"]["status"], "good");
    EXPECT_TRUE(packet["malformed"].is_null());
}

TEST_F(DecodeCommand, malformed_packets_are_decoded_as_far_as_they_go_and_exit_with_1) {
    auto frame = write_only();
    frame[42] = std::byte{0x1f};
    add(write_only());
    add(frame);
    const auto outcome = decode();
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.out.find("BTH opcode 0x1f is reserved"), std::string::npos) << outcome.out;
    EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 2);
}

TEST_F(DecodeCommand, a_snap_length_is_said_and_is_not_malformed) {
    auto frame = write_only();
    const auto length = frame.size();
    frame.resize(60);
    add(frame, length);
    const auto outcome = decode({"--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    const json packet = json::parse(outcome.out);
    EXPECT_EQ(packet["truncated"], "truncated by snap length: RETH needs 16 bytes, 6 left");
    EXPECT_EQ(packet["bth"]["opcode"], 0x0a);
}

TEST_F(DecodeCommand, count_stops_after_so_many) {
    for (int i = 0; i < 5; ++i)
        add(write_only());
    EXPECT_EQ(std::ranges::count(decode({"-c", "2"}).out, '\n'), 2);
}

TEST_F(DecodeCommand, reads_standard_input) {
    add(write_only());
    const auto outcome = support::run({"bash", "-c", rocecap() + " decode - --json < " + path_});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(json::parse(outcome.out)["frame"], 1);
}

TEST_F(DecodeCommand, a_reader_that_has_enough_is_a_clean_end) {
    for (int i = 0; i < 20'000; ++i)
        add(write_only(0));
    const auto outcome = support::run(
        {"bash", "-c", rocecap() + " decode " + path_ + " | head -n 1; echo ${PIPESTATUS[0]}"});
    EXPECT_EQ(outcome.out.substr(outcome.out.find('\n') + 1), "0\n");
    EXPECT_EQ(outcome.err, "");
}

TEST_F(DecodeCommand, a_file_that_breaks_off_gives_its_whole_packets_and_exits_with_2) {
    add(write_only());
    add(write_only());
    std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 10);
    const auto outcome = decode();
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 1) << outcome.all();
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.all();
    EXPECT_EQ(
        outcome.err.rfind("rocecap: '" + path_ + "' ends inside the block that begins at byte ", 0),
        0U)
        << outcome.err;
}

TEST_F(DecodeCommand, a_full_disk_is_said) {
    add(write_only());
    const auto outcome =
        support::run({"bash", "-c", rocecap() + " decode " + path_ + " > /dev/full"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.err, "rocecap: cannot write to standard output: No space left on device.\n");
}

TEST_F(DecodeCommand, colours_only_where_asked_for) {
    add(write_only());
    EXPECT_EQ(decode().out.find('\033'), std::string::npos);
    EXPECT_NE(decode({"--color", "always"}).out.find('\033'), std::string::npos);
}

TEST_F(DecodeCommand, what_cannot_be_run_is_a_sentence_and_exit_code_2) {
    const auto says = [](const support::Argv& arguments, const char* text) {
        support::Argv argv{rocecap()};
        argv.insert(argv.end(), arguments.begin(), arguments.end());
        const auto outcome = support::run(argv);
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_NE(outcome.err.find(text), std::string::npos) << outcome.all();
        EXPECT_EQ(outcome.out, "");
    };
    says({"decode", "/nonexistent"}, "cannot open '/nonexistent': No such file or directory.");
    says({"decode", rocecap()}, "is not a pcap or pcapng capture");
    says({"decode"}, "file is required");
    says({"decode", "x", "--jsn"}, "--jsn");
    says(
        {"decoed"},
        "there is no command 'decoed': choose live, decode, flows, verify, check, explain, fields, "
        "timeline, predict, simulate, psns, annotate, anonymize, report.");
    says({}, "--help");
}

}  // namespace decode_test
