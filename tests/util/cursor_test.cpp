#include "util/cursor.hpp"

#include <array>

#include <gtest/gtest.h>

namespace {

using util::Cursor;

constexpr std::array<std::byte, 9> bytes{std::byte{0x81}, std::byte{0x02}, std::byte{0xf3},
                                         std::byte{0x04}, std::byte{0x05}, std::byte{0x06},
                                         std::byte{0x07}, std::byte{0x88}, std::byte{0x09}};

TEST(Cursor, hands_out_bytes_from_front_to_back) {
    Cursor cursor(bytes);
    const auto first = cursor.take<2>();
    ASSERT_TRUE(first);
    EXPECT_EQ((*first).data(), bytes.data());
    const auto next = cursor.take(3);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->data(), bytes.data() + 2);
    EXPECT_EQ(next->size(), 3U);
    EXPECT_EQ(cursor.remaining(), 4U);
    EXPECT_EQ(cursor.rest().data(), bytes.data() + 5);
}

TEST(Cursor, stays_where_it_is_when_there_is_too_little) {
    Cursor cursor(util::Bytes(bytes).first(3));
    EXPECT_FALSE(cursor.take<4>());
    EXPECT_FALSE(cursor.take(4));
    EXPECT_FALSE(cursor.take(SIZE_MAX));
    EXPECT_EQ(cursor.remaining(), 3U);
    EXPECT_TRUE(cursor.take<3>());
}

TEST(Cursor, knows_its_position_and_can_be_limited) {
    Cursor cursor(bytes);
    cursor.take<2>();
    EXPECT_EQ(cursor.at(), 2U);
    EXPECT_EQ(cursor.taken().data(), bytes.data());
    EXPECT_EQ(cursor.taken().size(), 2U);
    cursor.limit(3);
    EXPECT_EQ(cursor.remaining(), 3U);
    cursor.limit(4);
    EXPECT_EQ(cursor.remaining(), 3U) << "a limit does not add bytes";
    EXPECT_FALSE(cursor.take<4>());
    EXPECT_EQ(cursor.take(3)->data(), bytes.data() + 2);
    EXPECT_EQ(cursor.at(), 5U);
}

TEST(Cursor, at_the_end_gives_only_nothing) {
    Cursor cursor(util::Bytes{});
    EXPECT_TRUE(cursor.take(0));
    EXPECT_FALSE(cursor.take<1>());
    EXPECT_FALSE(cursor.take(1));
}

TEST(Cursor, works_while_compiling) {
    static_assert([] {
        Cursor cursor(bytes);
        cursor.take<4>();
        return cursor.take<1>() && cursor.remaining() == 4 && !cursor.take<5>();
    }());
}

TEST(BigEndian, reads_every_width_at_an_offset) {
    constexpr util::FixedBytes<9> all(bytes);
    EXPECT_EQ(util::be8<2>(all), 0xf3);
    EXPECT_EQ(util::be16<0>(all), 0x8102);
    EXPECT_EQ(util::be24<2>(all), 0xf30405U);
    EXPECT_EQ(util::be32<0>(all), 0x8102f304U);
    EXPECT_EQ(util::be32<5>(all), 0x06078809U) << "up to the last byte";
    EXPECT_EQ(util::be64<0>(all), 0x8102f30405060788U);
    EXPECT_EQ(util::be64<1>(all), 0x02f3040506078809U);
}

TEST(BigEndian, writes_what_it_reads_and_nothing_beside_it) {
    std::array<std::byte, 12> out{};
    out.fill(std::byte{0xee});
    const std::span view(out);
    util::put_be8<1>(view, 0x12);
    util::put_be16<2>(view, 0xfedc);
    util::put_be24<5>(view, 0x89abcd);
    EXPECT_EQ(util::be64<0>(util::FixedBytes<12>(out)), 0xee12fedcee89abcdU);
    util::put_be32<0>(view, 0x80000001);
    util::put_be64<4>(view, 0x8877665544332211);
    EXPECT_EQ(util::be32<0>(util::FixedBytes<12>(out)), 0x80000001U);
    EXPECT_EQ(util::be64<4>(util::FixedBytes<12>(out)), 0x8877665544332211U);
}

TEST(BigEndian, of_24_bits_leaves_the_highest_byte_out) {
    std::array<std::byte, 4> out{};
    util::put_be24<1>(std::span(out), 0xaa123456);
    EXPECT_EQ(util::be32<0>(util::FixedBytes<4>(out)), 0x00123456U);
}

}  // namespace
