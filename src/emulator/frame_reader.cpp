#include "emulator/frame_reader.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace emulator {

std::span<std::byte> FrameReader::space() {
    std::copy(bytes_.begin() + static_cast<std::ptrdiff_t>(begin_),
              bytes_.begin() + static_cast<std::ptrdiff_t>(end_), bytes_.begin());
    end_ -= std::exchange(begin_, 0);
    return std::span(bytes_).subspan(end_);
}

std::optional<util::Bytes> FrameReader::next() {
    while (true) {
        util::Cursor cursor(util::Bytes(bytes_).subspan(begin_, end_ - begin_));
        const auto head = cursor.take<length_size>();
        if (!head)
            return std::nullopt;
        const std::size_t length = util::be32<0>(*head);
        if (length == 0 || length > longest_frame)
            throw NotFrames(
                fmt::format("the length of a frame is {} bytes: at most {} are possible", length,
                            longest_frame));
        const auto frame = cursor.take(length);
        if (!frame)
            return std::nullopt;
        begin_ += length_size + length;
        if (length >= shortest_frame)
            return frame;
        ++too_short_;
    }
}

}  // namespace emulator
