// Changes to one frame, in place.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "emulator/rule.hpp"
#include "util/cursor.hpp"
#include "wire/trail.hpp"

namespace emulator {

/// A frame, and where its headers are. A frame is decoded when it arrives, and again only after an
/// edit that moves its headers.
struct LocatedFrame {
    std::vector<std::byte> bytes{};
    wire::Trail trail{};
};

/// Decodes an Ethernet frame.
wire::Trail trail_of(util::Bytes frame);

/// Returns a short description of the change: "byte 28: 0x41 → 0xbe". Returns an empty string, and
/// leaves the frame unchanged, if the frame has no such byte or field.
std::string apply(const Corrupt& corrupt, LocatedFrame& frame);
std::string apply(const Set& set, LocatedFrame& frame);
/// Sets ECN in the IP header to "congestion experienced" (RFC 3168), as a router does. The ICRC
/// does not cover ECN.
std::string apply(const Mark& mark, LocatedFrame& frame);

}  // namespace emulator
