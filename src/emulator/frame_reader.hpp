// Ethernet frames in a stream, in the format of QEMU's "stream" and "socket" network backends: a
// 4-byte length, big-endian, then the frame from its destination address to its last byte, without
// the FCS. Source: QEMU's net/stream.c and net/net.c (net_fill_rstate).
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
/// An Ethernet header without payload.
inline constexpr std::size_t shortest_frame = 14;
/// QEMU's NET_BUFSIZE.
inline constexpr std::size_t longest_frame = 4096 + 65536;

/// The length of a frame is invalid. The stream cannot be parsed any further.
class NotFrames : public util::Error {
    using util::Error::Error;
};

class FrameReader {
  public:
    /// Buffer for the next bytes of the stream. Call filled() with the number of bytes written.
    /// Never empty.
    std::span<std::byte> space();
    void filled(std::size_t bytes) { end_ += bytes; }

    /// Returns the next complete frame, valid until space() is called, or nullopt if it needs more
    /// bytes. Throws NotFrames.
    std::optional<util::Bytes> next();

    /// Number of frames skipped because they are shorter than an Ethernet header.
    std::uint64_t too_short() const { return too_short_; }

  private:
    static constexpr std::size_t capacity = std::size_t{256} * 1024;

    std::vector<std::byte> bytes_ = std::vector<std::byte>(capacity);
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::uint64_t too_short_ = 0;
};

}  // namespace emulator
