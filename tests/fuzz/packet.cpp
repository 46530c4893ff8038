// Input: a frame. The first byte selects the link type; the next two are the number of bytes that
// the snap length cut.
#include <array>
#include <cstdint>

#include "fuzz/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::array links{wire::LinkType::Ethernet, wire::LinkType::LinuxCooked,
                               wire::LinkType::LinuxCooked2, wire::LinkType::RawIp};
    constexpr std::size_t head = 3;
    if (size < head)
        return 0;
    const auto frame = std::as_bytes(std::span(data, size)).subspan(head);
    const std::size_t cut = std::size_t{data[1]} << 8 | data[2];
    fuzz::look_at(frame, links[data[0] % links.size()], frame.size() + cut);
    return 0;
}
