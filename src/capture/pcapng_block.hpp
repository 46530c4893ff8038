// One pcapng block under construction, in this machine's byte order (the Section Header Block
// states it). Source: https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcapng/, section 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace capture {

class PcapngBlock {
  public:
    /// Starts a block of this type, reusing the memory of the previous one.
    PcapngBlock& start(std::uint32_t type);

    PcapngBlock& u16(std::uint16_t value);
    PcapngBlock& u32(std::uint32_t value);
    /// A 64-bit time as high half, then low half, as in blocks (options have plain 64-bit
    /// integers).
    PcapngBlock& timestamp(std::uint64_t value);
    /// Bytes, padded with zeros to a multiple of four.
    PcapngBlock& padded(std::span<const std::byte> bytes);

    /// An option: code, length, value, padding. Leaves out empty text. Text longer than the 65,535
    /// bytes of an option is cut at the end of a UTF-8 character.
    PcapngBlock& option(std::uint16_t code, std::string_view text);
    PcapngBlock& option(std::uint16_t code, std::span<const std::byte> value);
    PcapngBlock& option_u64(std::uint16_t code, std::uint64_t value);
    PcapngBlock& option_timestamp(std::uint16_t code, std::uint64_t value);

    /// Ends the options and sets both lengths. Valid until the next start().
    std::span<const std::byte> finish();

  private:
    std::vector<std::byte> bytes_;
    bool has_options_ = false;
};

}  // namespace capture
