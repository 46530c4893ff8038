#include "examples/common/memory.hpp"

#include <algorithm>
#include <cstring>
#include <libdeflate.h>
#include <string>

namespace common {

std::vector<std::byte> pattern(std::size_t size, std::string_view text) {
    std::vector<std::byte> bytes(size);
    if (!text.empty())
        for (std::size_t i = 0; i < size; ++i)
            bytes[i] = static_cast<std::byte>(text[i % text.size()]);
    return bytes;
}

// xorshift64 (Marsaglia, Journal of Statistical Software 8(14), 2003): a GiB in about a second.
std::vector<std::byte> unlike_bytes(std::size_t size) {
    std::vector<std::byte> bytes(size);
    std::uint64_t x = 0x9e3779b97f4a7c15;
    for (std::size_t i = 0; i < bytes.size(); i += sizeof x) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        std::memcpy(&bytes[i], &x, std::min(sizeof x, bytes.size() - i));
    }
    return bytes;
}

std::uint32_t crc_of(std::span<const std::byte> bytes) {
    return libdeflate_crc32(0, bytes.data(), bytes.size());
}

runlog::Fields describe_memory(std::span<const std::byte> memory) {
    const auto last = std::ranges::find_if(memory.rbegin(), memory.rend(),
                                           [](std::byte byte) { return byte != std::byte{0}; });
    const auto used = memory.first(static_cast<std::size_t>(memory.rend() - last));
    std::string begins;
    for (const std::byte byte : used.first(std::min<std::size_t>(used.size(), 22))) {
        const char c = std::to_integer<char>(byte);
        begins += c >= ' ' && c <= '~' ? c : '.';
    }
    return {{"va", reinterpret_cast<std::uintptr_t>(memory.data())},
            {"len", memory.size()},
            {"used", used.size()},
            {"crc32", crc_of(used)},
            {"begins", begins}};
}

std::string memory_text(std::span<const std::byte> memory) {
    const runlog::Event event{0, "", "memory", describe_memory(memory)};
    const std::string text = to_text(event);
    return text.substr(text.find("0x"));
}

}  // namespace common
