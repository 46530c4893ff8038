// Input: a pcapng file that grows. The first two bytes determine its initial size. The packets read
// must not depend on it.
#include "capture/pcapng_tail.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/check.hpp"
#include "fuzz/memory_file.hpp"
#include "util/error.hpp"

namespace {

struct Reading {
    struct Packet {
        capture::Time time{};
        std::vector<std::byte> bytes;
        std::uint32_t original_length = 0;
        wire::LinkType link_type{};

        bool operator==(const Packet&) const = default;
    };
    std::vector<Packet> packets;
    std::string error;

    void drain(capture::PcapngTail& tail, const std::string& path) {
        if (!error.empty())
            return;
        try {
            while (const auto frame = tail.next())
                packets.push_back({frame->time,
                                   {frame->bytes.begin(), frame->bytes.end()},
                                   frame->original_length,
                                   frame->link_type});
        } catch (const util::Error& failure) {
            error = failure.what();
            error.replace(error.find(path), path.size(), "file");
        }
    }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t head = 2;
    if (size < head)
        return 0;
    const auto bytes = std::as_bytes(std::span(data, size)).subspan(head);
    const std::size_t first =
        bytes.empty() ? 0 : (std::size_t{data[0]} << 8 | data[1]) % bytes.size();

    Reading whole;
    const fuzz::MemoryFile file(bytes);
    capture::PcapngTail tail(file.path());
    whole.drain(tail, file.path());

    Reading growing;
    fuzz::MemoryFile grown(bytes.first(first));
    capture::PcapngTail growing_tail(grown.path());
    growing.drain(growing_tail, grown.path());
    grown.append(bytes.subspan(first));
    growing.drain(growing_tail, grown.path());

    fuzz::require(whole.packets == growing.packets, "the packets do not depend on when they come");
    fuzz::require(whole.error == growing.error,
                  "an error does not depend on when it comes: " + whole.error + growing.error);
    constexpr std::size_t shown = 20;
    for (std::size_t i = 0; i < whole.packets.size() && i < shown; ++i) {
        const auto& packet = whole.packets[i];
        fuzz::require(packet.bytes.size() <= packet.original_length,
                      "no more of a packet was captured than it had");
        fuzz::look_at(packet.bytes, packet.link_type, packet.original_length, packet.time);
    }
    return 0;
}
