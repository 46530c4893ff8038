// rocecap verify: its counts, its list and its exit code.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/rocecap/capture_file.hpp"

namespace verify_command_test {

using nlohmann::json;
using rocecap_test::frame_of;

class VerifyCommand : public testing::Test {
  protected:
    static std::vector<std::byte> with_a_flipped_payload_byte() {
        auto frame = frame_of(0x0a);
        frame[frame.size() - 10] ^= std::byte{0x40};
        return frame;
    }
    static std::vector<std::byte> with_a_reserved_opcode() {
        auto frame = frame_of(0x0a);
        frame[42] = std::byte{0x1f};
        return frame;
    }
    // Adds a RoCE packet of which only `size` bytes were captured.
    void add_cut(std::size_t size) {
        auto frame = frame_of(0x0a);
        const auto length = frame.size();
        frame.resize(size);
        file_.add(frame, length);
    }
    support::Outcome verify(const support::Argv& options = {}) const {
        return file_.run("verify", options);
    }

    rocecap_test::CaptureFile file_{"verify.pcapng"};
};

TEST_F(VerifyCommand, a_good_capture_ends_with_0) {
    file_.add(frame_of(0x0a));
    file_.add(frame_of(0x11, 0));
    const auto outcome = verify();
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out,
              "2 packets, 2 of them RoCE\n"
              "ICRC: 2 good, 0 bad, 0 unchecked\n");
    EXPECT_EQ(outcome.err, "");
}

TEST_F(VerifyCommand, one_flipped_byte_is_found_and_listed) {
    file_.add(frame_of(0x0a));
    file_.add(with_a_flipped_payload_byte());
    file_.add(frame_of(0x0a));
    const auto outcome = verify();
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out.rfind("    2   0.000001  192.0.2.2 → 192.0.2.1  RC RDMA WRITE Only", 0),
              0U)
        << outcome.out;
    EXPECT_NE(outcome.out.find(" is wrong: 0x"), std::string::npos) << outcome.out;
    EXPECT_TRUE(
        outcome.out.ends_with("\n\n3 packets, 3 of them RoCE\n"
                              "ICRC: 2 good, 1 bad, 0 unchecked\n"))
        << outcome.out;
    EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 4);
}

TEST_F(VerifyCommand, a_malformed_packet_is_listed_and_ends_with_1) {
    file_.add(frame_of(0x0a));
    file_.add(with_a_reserved_opcode());
    const auto outcome = verify();
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.out.find("malformed: BTH opcode 0x1f is reserved\n"), std::string::npos);
    EXPECT_TRUE(
        outcome.out.ends_with("2 packets, 2 of them RoCE\n"
                              "ICRC: 1 good, 0 bad, 0 unchecked\n"
                              "malformed: 1 packet\n"))
        << outcome.out;
}

TEST_F(VerifyCommand, what_was_cut_stays_unchecked_and_says_why) {
    add_cut(110);  // within the payload
    add_cut(110);
    add_cut(60);  // within the RETH
    const auto outcome = verify();
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out,
              "3 packets, 3 of them RoCE\n"
              "ICRC: 0 good, 0 bad, 3 unchecked\n"
              "  unchecked: a header is cut off: 1 packet\n"
              "  unchecked: truncated by snap length: 2 packets\n");
    EXPECT_EQ(outcome.err, "rocecap: no packet has an ICRC that could be checked.\n");
}

TEST_F(VerifyCommand, cut_packets_beside_good_ones_end_with_0) {
    file_.add(frame_of(0x0a));
    add_cut(60);
    const auto outcome = verify();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(outcome.err, "");
}

TEST_F(VerifyCommand, a_capture_without_packets_or_without_roce_verifies_nothing) {
    EXPECT_EQ(verify().exit_code, 1);
    file_.add(wire_test::from_hex("020000000001 020000000002 0806 0001"));
    const auto outcome = verify();
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out,
              "1 packet, 0 of them RoCE\n"
              "ICRC: 0 good, 0 bad, 0 unchecked\n");
    EXPECT_EQ(outcome.err, "rocecap: no packet has an ICRC that could be checked.\n");
}

TEST_F(VerifyCommand, json_is_one_object_with_the_first_that_are_bad) {
    file_.add(frame_of(0x0a));
    file_.add(with_a_flipped_payload_byte());
    file_.add(with_a_reserved_opcode());
    add_cut(60);
    file_.add(wire_test::from_hex("020000000001 020000000002 0806 0001"));
    const auto outcome = verify({"--json"});
    EXPECT_EQ(outcome.exit_code, 1);
    json result = json::parse(outcome.out);
    ASSERT_EQ(result["first"].size(), 2U);
    EXPECT_EQ(result["first"][0]["frame"], 2);
    EXPECT_EQ(result["first"][0]["icrc"]["status"], "bad");
    EXPECT_EQ(result["first"][1]["malformed"], "BTH opcode 0x1f is reserved");
    result.erase("first");
    EXPECT_EQ(result, json::parse(R"({"packets": 5, "roce": 4,
        "icrc": {"good": 1, "bad": 1, "unchecked": 1},
        "unchecked": {"a header is cut off": 1},
        "malformed": 1, "not_roce": 1, "right_with_srcport": 0})"));
}

TEST_F(VerifyCommand, says_where_another_source_port_explains_most_of_the_bad_ones) {
    auto rewritten = frame_of(0x0a);
    rewritten[34] ^= std::byte{0x55};
    file_.add(rewritten);
    file_.add(rewritten);
    file_.add(with_a_flipped_payload_byte());
    EXPECT_TRUE(
        verify().out.ends_with("ICRC: 0 good, 3 bad, 0 unchecked\n"
                               "  bad: 2 of 3 packets right with another UDP source port: a mirror "
                               "or capture driver may have changed it\n"));
    file_.add(with_a_flipped_payload_byte());
    EXPECT_TRUE(verify().out.ends_with("ICRC: 0 good, 4 bad, 0 unchecked\n"));
    EXPECT_EQ(json::parse(verify({"--json"}).out)["right_with_srcport"], 2);
}

TEST_F(VerifyCommand, first_limits_the_list_and_not_the_count) {
    for (int i = 0; i < 12; ++i)
        file_.add(with_a_flipped_payload_byte());
    const auto lines = [&](const support::Argv& options) {
        const auto outcome = verify(options);
        EXPECT_EQ(outcome.exit_code, 1);
        EXPECT_TRUE(outcome.out.ends_with("ICRC: 0 good, 12 bad, 0 unchecked\n")) << outcome.out;
        return std::ranges::count(outcome.out, '\n');
    };
    EXPECT_EQ(lines({}), 10 + 1 + 1 + 2);  // "... and 2 more", an empty line, the counts
    EXPECT_EQ(lines({"--first", "3"}), 3 + 1 + 1 + 2);
    EXPECT_EQ(lines({"--first", "12"}), 12 + 1 + 2);
    EXPECT_EQ(lines({"--first", "0"}), 2);
    EXPECT_NE(verify({"--first", "3"}).out.find("\n... and 9 more\n\n"), std::string::npos);
    EXPECT_EQ(json::parse(verify({"--json", "--first", "3"}).out)["first"].size(), 3U);
}

TEST_F(VerifyCommand, reads_standard_input_and_refuses_what_is_no_capture) {
    file_.add(frame_of(0x0a));
    const auto piped = support::run(
        {"bash", "-c", "cat " + file_.path() + " | " + support::rocecap() + " verify -"});
    EXPECT_EQ(piped.exit_code, 0) << piped.all();
    const auto refused = support::run({support::rocecap(), "verify", "/nonexistent"});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_EQ(refused.err, "rocecap: cannot open '/nonexistent': No such file or directory.\n");
    EXPECT_EQ(verify({"--first", "-1"}).exit_code, 2);
}

}  // namespace verify_command_test
