#include "capture/pcapng_block.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace capture {
namespace {

constexpr std::size_t option_limit = 0xffff;
constexpr std::size_t length_offset = 4;  // of the block's first length field

template <typename T>
void append(std::vector<std::byte>& bytes, T value) {
    const auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
    bytes.insert(bytes.end(), raw.begin(), raw.end());
}

std::string_view cut(std::string_view text) {
    if (text.size() <= option_limit)
        return text;
    std::size_t end = option_limit;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80)
        --end;
    return text.substr(0, end);
}

}  // namespace

PcapngBlock& PcapngBlock::start(std::uint32_t type) {
    bytes_.clear();
    has_options_ = false;
    return u32(type).u32(0);
}

PcapngBlock& PcapngBlock::u16(std::uint16_t value) {
    append(bytes_, value);
    return *this;
}

PcapngBlock& PcapngBlock::u32(std::uint32_t value) {
    append(bytes_, value);
    return *this;
}

PcapngBlock& PcapngBlock::timestamp(std::uint64_t value) {
    return u32(static_cast<std::uint32_t>(value >> 32U)).u32(static_cast<std::uint32_t>(value));
}

PcapngBlock& PcapngBlock::padded(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
    return *this;
}

PcapngBlock& PcapngBlock::option(std::uint16_t code, std::string_view text) {
    if (text.empty())
        return *this;
    return option(code, std::as_bytes(std::span(cut(text))));
}

PcapngBlock& PcapngBlock::option(std::uint16_t code, std::span<const std::byte> value) {
    const auto kept = value.first(std::min(value.size(), option_limit));
    has_options_ = true;
    return u16(code).u16(static_cast<std::uint16_t>(kept.size())).padded(kept);
}

PcapngBlock& PcapngBlock::option_u64(std::uint16_t code, std::uint64_t value) {
    return option(code, std::as_bytes(std::span(&value, 1)));
}

PcapngBlock& PcapngBlock::option_timestamp(std::uint16_t code, std::uint64_t value) {
    has_options_ = true;
    return u16(code).u16(sizeof value).timestamp(value);
}

std::span<const std::byte> PcapngBlock::finish() {
    if (has_options_)
        u16(0).u16(0);  // opt_endofopt
    const auto length = static_cast<std::uint32_t>(bytes_.size() + sizeof(std::uint32_t));
    append(bytes_, length);
    std::memcpy(bytes_.data() + length_offset, &length, sizeof length);
    return bytes_;
}

}  // namespace capture
