// Changes to one frame, in place.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "emulator/rule.hpp"

namespace emulator {

/// Returns a short description of the change: "byte 28: 0x41 is 0xbe". Returns an empty string, and
/// leaves the frame unchanged, if the frame has no such byte or field.
std::string apply(const Corrupt& corrupt, std::span<std::byte> frame);
std::string apply(const Set& set, std::span<std::byte> frame);
/// Sets ECN in the IP header to "congestion experienced" (RFC 3168), as a router does. The ICRC
/// does not cover ECN.
std::string apply(const Mark& mark, std::span<std::byte> frame);

}  // namespace emulator
