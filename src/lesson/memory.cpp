#include "lesson/memory.hpp"

#include <algorithm>
#include <libdeflate.h>
#include <string>

namespace lesson {

std::vector<std::byte> pattern(std::size_t size, std::string_view text) {
    std::vector<std::byte> bytes(size);
    if (!text.empty())
        for (std::size_t i = 0; i < size; ++i)
            bytes[i] = static_cast<std::byte>(text[i % text.size()]);
    return bytes;
}

runlog::Fields describe_memory(std::span<const std::byte> memory) {
    const auto last = std::ranges::find_if(memory.rbegin(), memory.rend(),
                                           [](std::byte byte) { return byte != std::byte{0}; });
    const auto used = memory.first(static_cast<std::size_t>(memory.rend() - last));
    const auto crc = libdeflate_crc32(0, used.data(), used.size());
    std::string begins;
    for (const std::byte byte : used.first(std::min<std::size_t>(used.size(), 22))) {
        const char c = std::to_integer<char>(byte);
        begins += c >= ' ' && c <= '~' ? c : '.';
    }
    return {{"va", reinterpret_cast<std::uintptr_t>(memory.data())},
            {"len", memory.size()},
            {"used", used.size()},
            {"crc32", crc},
            {"begins", begins}};
}

}  // namespace lesson
