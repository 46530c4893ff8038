// One captured packet.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "util/cursor.hpp"
#include "wire/packet.hpp"
#include "wire/roce_flows.hpp"

namespace capture {

/// Capture time: since 1970-01-01 UTC.
using Time = std::chrono::nanoseconds;

/// `fraction`: after the seconds. A corrupted file may contain any time: values outside 32 bits of
/// seconds, signed or unsigned, are clamped, so that differences do not overflow.
constexpr Time time_of(std::int64_t seconds, std::chrono::nanoseconds fraction) {
    return std::chrono::seconds(std::clamp<std::int64_t>(seconds, INT32_MIN, UINT32_MAX)) +
           fraction;
}

struct Frame {
    Time time{};
    util::Bytes bytes;                  ///< the captured bytes; valid until the next frame
    std::uint32_t original_length = 0;  ///< on the wire, >= bytes.size()
    wire::LinkType link_type = wire::LinkType::Ethernet;
    wire::CaptureNotes notes{};  ///< valid as long as `bytes`
    std::uint64_t number = 0;    ///< in its file, from 1; 0 in a live capture
};

/// The result points into the frame's bytes. `flows`: of the capture, whose frames are decoded in
/// order.
inline wire::Packet decode(const Frame& frame, wire::RoceFlows& flows,
                           wire::IcrcCheck icrc = wire::IcrcCheck::Compute) {
    return flows.decode(frame.bytes, frame.link_type, frame.original_length, icrc);
}
/// The same without the other packets: all to UDP port 4791 are RoCE.
inline wire::Packet decode(const Frame& frame, wire::IcrcCheck icrc = wire::IcrcCheck::Compute) {
    return wire::decode(frame.bytes, frame.link_type, frame.original_length, icrc);
}

}  // namespace capture
