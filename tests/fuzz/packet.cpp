// Input: a frame. The first byte selects the link type; the next two are the number of bytes that
// the snap length cut. The anonymized frame has the same headers at the same places.
#include <array>
#include <cstdint>

#include "anonymize/anonymous_frame.hpp"
#include "fuzz/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::array links{wire::LinkType::Ethernet,     wire::LinkType::LinuxCooked,
                               wire::LinkType::LinuxCooked2, wire::LinkType::RawIp,
                               wire::LinkType::Infiniband,   wire::LinkType::Erf};
    constexpr std::size_t head = 3;
    if (size < head)
        return 0;
    const auto frame = std::as_bytes(std::span(data, size)).subspan(head);
    const std::size_t cut = std::size_t{data[1]} << 8 | data[2];
    const auto link = links[data[0] % links.size()];
    fuzz::look_at(frame, link, frame.size() + cut);
    anonymize::Anonymizer anonymizer(anonymize::Data::Replaced);
    const std::string problem =
        anonymize_test::problem_with(anonymizer, frame, link, frame.size() + cut);
    fuzz::require(problem.empty(), "an anonymized frame: " + problem);
    return 0;
}
