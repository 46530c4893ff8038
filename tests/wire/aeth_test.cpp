#include <array>

#include <gtest/gtest.h>

#include "wire/extension_headers.hpp"
#include "wire/sample_frames.hpp"

namespace aeth_test {

using wire::Aeth;
using wire::AethKind;

TEST(Aeth, reads_syndrome_and_24_bits_of_msn) {
    const auto bytes = wire_test::from_hex("1f fe dc ba");
    const Aeth aeth = wire::parse<Aeth>(std::span(bytes).first<4>());
    EXPECT_EQ(aeth.syndrome, 0x1f);
    EXPECT_EQ(aeth.msn, 0xfedcbaU);
    std::array<std::byte, 4> out{};
    wire::write(aeth, out);
    EXPECT_TRUE(std::equal(out.begin(), out.end(), bytes.begin()));
}

TEST(Aeth, bits_6_and_5_choose_the_kind) {
    EXPECT_EQ(Aeth{.syndrome = 0x1f}.kind(), AethKind::Ack);
    EXPECT_EQ(Aeth{.syndrome = 0x2c}.kind(), AethKind::RnrNak);
    EXPECT_EQ(Aeth{.syndrome = 0x41}.kind(), AethKind::Reserved);
    EXPECT_EQ(Aeth{.syndrome = 0x62}.kind(), AethKind::Nak);
    EXPECT_EQ(Aeth{.syndrome = 0xe2}.kind(), AethKind::Nak) << "bit 7 is reserved";
}

TEST(Aeth, credits_grow_by_the_specifications_table) {
    EXPECT_EQ(Aeth{.syndrome = 0}.credits(), 0U);
    EXPECT_EQ(Aeth{.syndrome = 4}.credits(), 4U);
    EXPECT_EQ(Aeth{.syndrome = 11}.credits(), 48U);
    EXPECT_EQ(Aeth{.syndrome = 30}.credits(), 32768U);
    EXPECT_EQ(Aeth{.syndrome = 31}.credits(), std::nullopt) << "no end-to-end flow control";
    EXPECT_EQ(Aeth{.syndrome = 0x60}.credits(), std::nullopt);
}

TEST(Aeth, an_rnr_nak_names_its_timer) {
    EXPECT_EQ(Aeth{.syndrome = 0x20}.rnr_timer_ms(), 655.36) << "code 0 is the longest";
    EXPECT_EQ(Aeth{.syndrome = 0x21}.rnr_timer_ms(), 0.01);
    EXPECT_EQ(Aeth{.syndrome = 0x2c}.rnr_timer_ms(), 0.64);
    EXPECT_EQ(Aeth{.syndrome = 0x3f}.rnr_timer_ms(), 491.52);
    EXPECT_EQ(Aeth{.syndrome = 0x0c}.rnr_timer_ms(), std::nullopt);
}

TEST(Aeth, a_nak_names_its_error) {
    EXPECT_EQ(Aeth{.syndrome = 0x60}.nak_name(), "PSN Sequence Error");
    EXPECT_EQ(Aeth{.syndrome = 0x61}.nak_name(), "Invalid Request");
    EXPECT_EQ(Aeth{.syndrome = 0x62}.nak_name(), "Remote Access Error");
    EXPECT_EQ(Aeth{.syndrome = 0x63}.nak_name(), "Remote Operational Error");
    EXPECT_EQ(Aeth{.syndrome = 0x64}.nak_name(), "Invalid RD Request");
    EXPECT_EQ(Aeth{.syndrome = 0x65}.nak_name(), "Reserved");
    EXPECT_EQ(Aeth{.syndrome = 0x1f}.nak_name(), std::nullopt);
}

// RNR timer code 0 continues the series after code 31: 2 * 327.68 ms.
TEST(Aeth, every_code_from_the_fifth_on_is_twice_the_one_two_before) {
    const auto credits = [](unsigned code) {
        return *Aeth{.syndrome = static_cast<std::uint8_t>(code)}.credits();
    };
    const auto timer = [](unsigned code) {
        return *Aeth{.syndrome = static_cast<std::uint8_t>(0x20U | code)}.rnr_timer_ms();
    };
    for (unsigned code = 1; code < 5; ++code) {
        EXPECT_EQ(credits(code), code);
        EXPECT_DOUBLE_EQ(timer(code), 0.01 * code);
    }
    for (unsigned code = 5; code < 31; ++code)
        EXPECT_EQ(credits(code), 2 * credits(code - 2)) << code;
    for (unsigned code = 5; code < 32; ++code)
        EXPECT_DOUBLE_EQ(timer(code), 2 * timer(code - 2)) << code;
    EXPECT_DOUBLE_EQ(timer(0), 2 * timer(30));
}

TEST(Aeth, says_in_words_what_it_is) {
    EXPECT_EQ(Aeth{.syndrome = 0x07}.text(), "ACK, 12 credits");
    EXPECT_EQ(Aeth{.syndrome = 0x1f}.text(), "ACK, no flow control by credits");
    EXPECT_EQ(Aeth{.syndrome = 0x2c}.text(), "RNR NAK, wait 0.64 ms");
    EXPECT_EQ(Aeth{.syndrome = 0x62}.text(), "NAK: Remote Access Error");
    EXPECT_EQ(Aeth{.syndrome = 0x7f}.text(), "NAK: Reserved");
    EXPECT_EQ(Aeth{.syndrome = 0x41}.text(), "reserved syndrome 0x41");
}

}  // namespace aeth_test
