#include "wire/bth.hpp"

#include <array>
#include <type_traits>

#include <gtest/gtest.h>

#include "wire/sample_frames.hpp"

namespace bth_test {

using wire::Bth;
using Bytes = std::array<std::byte, Bth::size>;

Bytes written(const Bth& bth) {
    Bytes bytes;
    bytes.fill(std::byte{0xee});  // write() must overwrite every bit
    wire::write(bth, bytes);
    return bytes;
}

Bytes hex(std::string_view text) {
    const auto from = wire_test::from_hex(text);
    Bytes bytes{};
    std::copy_n(from.begin(), bytes.size(), bytes.begin());
    return bytes;
}

template <typename Field>
Bth only(Field Bth::*field, std::type_identity_t<Field> value) {
    Bth bth;
    bth.*field = value;
    return bth;
}

// IBTA volume 1, 9.2: opcode; SE, M, pad count, TVer; P_Key; FECN, BECN, reserved; destination QP;
// A, reserved; PSN.
TEST(Bth, fields_stand_where_the_specification_has_them) {
    const Bth bth{.opcode = 0x0a,
                  .se = true,
                  .m = false,
                  .padcnt = 2,
                  .tver = 5,
                  .p_key = 0x8001,
                  .fecn = false,
                  .becn = true,
                  .reserved6 = 0x2a,
                  .dest_qpn = 0xabcdef,
                  .a = true,
                  .reserved7 = 0x55,
                  .psn = wire::Psn(0xfedcba)};
    const Bytes bytes = hex("0a a5 8001 6a abcdef d5 fedcba");
    EXPECT_EQ(written(bth), bytes);
    EXPECT_EQ(wire::parse<Bth>(bytes), bth);
}

TEST(Bth, one_bit_is_one_flag) {
    EXPECT_EQ(wire::parse<Bth>(hex("00 80 0000 00000000 00000000")), only(&Bth::se, true));
    EXPECT_EQ(wire::parse<Bth>(hex("00 40 0000 00000000 00000000")), only(&Bth::m, true));
    EXPECT_EQ(wire::parse<Bth>(hex("00 30 0000 00000000 00000000")), only(&Bth::padcnt, 3));
    EXPECT_EQ(wire::parse<Bth>(hex("00 0f 0000 00000000 00000000")), only(&Bth::tver, 15));
    EXPECT_EQ(wire::parse<Bth>(hex("00 00 0000 80000000 00000000")), only(&Bth::fecn, true));
    EXPECT_EQ(wire::parse<Bth>(hex("00 00 0000 40000000 00000000")), only(&Bth::becn, true));
    EXPECT_EQ(wire::parse<Bth>(hex("00 00 0000 3f000000 00000000")), only(&Bth::reserved6, 0x3f));
    EXPECT_EQ(wire::parse<Bth>(hex("00 00 0000 00000000 80000000")), only(&Bth::a, true));
    EXPECT_EQ(wire::parse<Bth>(hex("00 00 0000 00000000 7f000000")), only(&Bth::reserved7, 0x7f));
}

TEST(Bth, every_bit_is_kept_by_reading_and_writing_again) {
    for (std::size_t bit = 0; bit < Bth::size * 8; ++bit) {
        Bytes bytes{};
        bytes[bit / 8] = static_cast<std::byte>(1U << bit % 8);
        EXPECT_EQ(written(wire::parse<Bth>(bytes)), bytes) << "bit " << bit;
        EXPECT_NE(wire::parse<Bth>(bytes), Bth{}) << "bit " << bit;
    }
}

TEST(Bth, a_value_too_wide_for_its_field_does_not_reach_its_neighbours) {
    EXPECT_EQ(written(only(&Bth::padcnt, 0xff)), hex("00 30 0000 00000000 00000000"));
    EXPECT_EQ(written(only(&Bth::tver, 0xff)), hex("00 0f 0000 00000000 00000000"));
    EXPECT_EQ(written(only(&Bth::reserved6, 0xff)), hex("00 00 0000 3f000000 00000000"));
    EXPECT_EQ(written(only(&Bth::dest_qpn, 0xff000000)), hex("00 00 0000 00000000 00000000"));
    EXPECT_EQ(written(only(&Bth::reserved7, 0xff)), hex("00 00 0000 00000000 7f000000"));
}

}  // namespace bth_test
