// Ethernet frames in a stream, as QEMU's "stream" and "socket" network backends send them: four
// bytes of length, big-endian, then the frame, from its destination address to its last byte,
// without a checksum. Source: QEMU's net/stream.c and net/net.c (net_fill_rstate).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "util/cursor.hpp"
#include "util/error.hpp"

namespace emulator {

inline constexpr std::size_t length_size = 4;
/// An Ethernet header and nothing more.
inline constexpr std::size_t shortest_frame = 14;
/// QEMU's NET_BUFSIZE.
inline constexpr std::size_t longest_frame = 4096 + 65536;

/// The stream cannot be followed any more: what stands where a length has to be is none.
class NotFrames : public util::Error {
    using util::Error::Error;
};

class FrameReader {
  public:
    /// Where the next bytes of the stream go; some of it, then filled(). Never empty.
    std::span<std::byte> space();
    void filled(std::size_t bytes) { end_ += bytes; }

    /// The next whole frame; valid until space() is called. nullopt: more of the stream is needed.
    /// Throws NotFrames.
    std::optional<util::Bytes> next();

    /// Frames too short to be any, which were left out.
    std::uint64_t too_short() const { return too_short_; }

  private:
    static constexpr std::size_t capacity = std::size_t{256} * 1024;

    std::vector<std::byte> bytes_ = std::vector<std::byte>(capacity);
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::uint64_t too_short_ = 0;
};

}  // namespace emulator
