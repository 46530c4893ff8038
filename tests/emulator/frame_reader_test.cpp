#include "emulator/frame_reader.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace {

using emulator::FrameReader;

std::vector<std::byte> framed(std::size_t size, std::byte fill, std::size_t announced) {
    std::vector<std::byte> bytes(4 + size, fill);
    util::put_be32<0>(std::span(bytes).first<4>(), static_cast<std::uint32_t>(announced));
    return bytes;
}
std::vector<std::byte> framed(std::size_t size, std::byte fill) {
    return framed(size, fill, size);
}

void feed(FrameReader& reader, util::Bytes bytes) {
    const auto space = reader.space();
    ASSERT_GE(space.size(), bytes.size());
    std::ranges::copy(bytes, space.begin());
    reader.filled(bytes.size());
}

TEST(FrameReader, gives_frames_as_they_become_whole) {
    FrameReader reader;
    const auto first = framed(60, std::byte{1});
    const auto second = framed(emulator::longest_frame, std::byte{2});
    feed(reader, first);
    auto frame = reader.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->size(), 60U);
    EXPECT_FALSE(reader.next());
    // Byte by byte, because a socket may deliver any part.
    for (std::size_t i = 0; i < second.size(); ++i) {
        EXPECT_FALSE(reader.next()) << i;
        feed(reader, util::Bytes(second).subspan(i, 1));
    }
    frame = reader.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->size(), emulator::longest_frame);
    EXPECT_EQ(frame->back(), std::byte{2});
}

TEST(FrameReader, leaves_out_what_is_too_short_for_a_header) {
    FrameReader reader;
    feed(reader, framed(13, std::byte{1}));
    feed(reader, framed(14, std::byte{2}));
    const auto frame = reader.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->front(), std::byte{2});
    EXPECT_EQ(reader.too_short(), 1U);
}

TEST(FrameReader, does_not_follow_a_length_that_is_none) {
    for (const std::size_t announced :
         {std::size_t{0}, emulator::longest_frame + 1, std::size_t{0x20202020}}) {
        FrameReader reader;
        feed(reader, framed(20, std::byte{1}, announced));
        EXPECT_THROW(reader.next(), emulator::NotFrames);
    }
}

}  // namespace
