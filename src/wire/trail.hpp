// The positions of a packet's headers in its frame. The decoder records each header that it reads.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/opcode.hpp"

namespace wire {

/// The parts of a frame, in wire order.
enum class Header : std::uint8_t {
    Outer,  ///< all encapsulations
    Sll,
    Erf,  ///< with extension headers
    Ethernet,
    Vlan,  ///< all tags
    Llc,   ///< with the SNAP header, and tags after it
    MacControl,
    Pause,
    Pfc,
    Lrh,
    Rwh,
    Ipv4,  ///< with options
    Ipv6,  ///< with extension headers
    Grh,
    Udp,
    Bth,
    Rdeth,  ///< this and the next ones in the order of HeaderMask's bits
    Dceth,
    Deth,
    Xrceth,
    Feth,
    Reth,
    AtomicEth,
    Aeth,
    AtomicAckEth,
    ImmDt,
    Ieth,
    CnpReserved,
    Mad,
    Cm,
    Smp,
    Payload,  ///< without a MAD's header, a message of the connection manager, and an SMP's header
    Padding,  ///< to a multiple of four bytes
    Icrc,
    Rest,  ///< not decoded: not RoCE, malformed, or a header cut by the snap length
    Vcrc,
    // Only in header_spans(). TCP is a part of the rest.
    Tcp,  ///< with options
    TcpData,
    Trailer,  ///< after the packet's end by its length fields: Ethernet padding
};

constexpr Header extension_header(HeaderMask bit) {
    return static_cast<Header>(static_cast<int>(Header::Rdeth) + std::countr_zero(bit));
}

/// Offsets in a frame. They count bytes on the wire: the capture may end earlier.
struct Extent {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;

    bool empty() const { return begin >= end; }
    std::size_t size() const { return empty() ? 0 : end - begin; }
    /// Returns the captured bytes as a span of the frame.
    template <typename Frame>
    auto of(Frame&& frame) const {
        const std::span bytes(frame);
        const std::size_t to = std::min<std::size_t>(end, bytes.size());
        const std::size_t from = std::min<std::size_t>(begin, to);
        return bytes.subspan(from, to - from);
    }
};

/// Where each header ends. It begins where the preceding one does, the first at 0; a part without a
/// byte counts as absent.
class Trail {
  public:
    /// Adds a header after all others, or moves the end of the last one.
    void put(Header header, std::size_t end) {
        ends_[static_cast<std::size_t>(header)] = static_cast<std::uint32_t>(end);
    }

    /// Returns an empty extent if the packet does not have this header.
    Extent find(Header header) const {
        auto index = static_cast<std::size_t>(header);
        const std::uint32_t end = ends_[index];
        while (index > 0 && ends_[index - 1] == 0)
            --index;
        return {index == 0 ? 0 : ends_[index - 1], end};
    }
    bool has(Header header) const { return !find(header).empty(); }
    Extent ip() const { return has(Header::Ipv4) ? find(Header::Ipv4) : find(Header::Ipv6); }

  private:
    std::array<std::uint32_t, static_cast<std::size_t>(Header::Vcrc) + 1> ends_{};  // 0: absent
};

}  // namespace wire
