// Changes to one frame, in place.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "emulator/rule.hpp"

namespace emulator {

/// What was changed, in a few words: "byte 28: 0x41 is 0xbe". Empty: the frame has no such byte or
/// field, and is as it was.
std::string apply(const Corrupt& corrupt, std::span<std::byte> frame);
std::string apply(const Set& set, std::span<std::byte> frame);
/// ECN of the IP header becomes "congestion experienced" (RFC 3168), as a router does it: the ICRC
/// does not cover it.
std::string apply(const Mark& mark, std::span<std::byte> frame);

}  // namespace emulator
