#include "wire/aeth.hpp"

#include <array>

#include <gtest/gtest.h>

#include "wire/sample_frames.hpp"

namespace {

using wire::Aeth;
using wire::AethKind;

TEST(Aeth, reads_syndrome_and_24_bits_of_msn) {
    const auto bytes = wire_test::from_hex("1f fe dc ba");
    const Aeth aeth = Aeth::parse(std::span(bytes).first<4>());
    EXPECT_EQ(aeth.syndrome, 0x1f);
    EXPECT_EQ(aeth.msn, 0xfedcbaU);
    std::array<std::byte, 4> out{};
    aeth.write(out);
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

}  // namespace
