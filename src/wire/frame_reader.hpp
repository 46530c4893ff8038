// Reads one frame from front to back, for the decoder only: a cursor that knows the captured length
// and the length on the wire. If a header does not fit, it can tell a truncated capture from a
// malformed packet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "util/cursor.hpp"
#include "wire/packet.hpp"

namespace wire {

class FrameReader {
  public:
    static constexpr std::size_t unknown_end = std::numeric_limits<std::uint32_t>::max();

    FrameReader(util::Bytes frame, std::size_t original_length, Packet& packet)
        : captured_(frame), end_(std::max(original_length, frame.size())), packet_(packet) {}

    /// Returns the next N bytes, or nothing if they are missing; the packet then has the reason.
    template <std::size_t N>
    util::MaybeBytes<N> take(std::string_view what) {
        if (!has(N, what))
            return {};
        return captured_.take<N>();
    }

    /// The same for a header: adds it to the packet's trail.
    template <std::size_t N>
    util::MaybeBytes<N> take(std::string_view what, Header header) {
        const auto bytes = take<N>(what);
        if (bytes)
            packet_.trail.put(header, at());
        return bytes;
    }

    bool skip(std::size_t count, std::string_view what) {
        if (!has(count, what))
            return false;
        captured_.take(count);
        return true;
    }

    /// Ends the packet after `length` more bytes, as a length field says. Bytes after those, such
    /// as the padding of a short Ethernet frame, are not read. If the frame has fewer, it was
    /// sliced before it was captured.
    void end_after(std::size_t length) {
        is_sliced_ = is_sliced_ || length > left();
        end_ = at() + length;
        captured_.limit(length);
    }

    /// Marks the rest as cut before the capture: lengths past the end of the frame are then no
    /// fault.
    void cut() {
        is_sliced_ = true;
        end_ = unknown_end;
    }

    /// The end of a fragment is not the end of the packet.
    void forget_end() { end_is_known_ = false; }
    bool end_is_known() const { return end_is_known_; }

    /// Offset in the frame: of the next byte; of the packet's end, which may not be captured.
    std::size_t at() const { return captured_.at(); }
    std::size_t end() const { return end_; }
    /// The bytes that have been read, from the start of the frame.
    util::Bytes taken() const { return captured_.taken(); }
    /// Captured bytes that have not been read.
    util::Bytes rest() const { return captured_.rest(); }
    /// Number of bytes on the wire that have not been read.
    std::size_t left() const { return end_ - at(); }

    /// Keeps only the first fault: the others often follow from it.
    void fault(Fault fault, std::string_view what, std::size_t value, std::size_t limit = 0) {
        if (!packet_.malformed)
            packet_.malformed = Malformed{fault, what, value, limit};
    }

    void truncated(std::string_view what, std::size_t needs, std::size_t left) {
        packet_.truncated = Truncated{what, needs, left, is_sliced_};
    }

  private:
    bool has(std::size_t count, std::string_view what) {
        if (captured_.remaining() >= count)
            return true;
        if (left() < count)
            fault(Fault::TooShort, what, count, left());
        else
            truncated(what, count, captured_.remaining());
        return false;
    }

    util::Cursor captured_;
    std::size_t end_;
    bool end_is_known_ = true;
    bool is_sliced_ = false;
    Packet& packet_;
};

}  // namespace wire
