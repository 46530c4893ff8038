// Finds the place of the link emulator's events among the packets. The place follows from the PSNs,
// because the emulator's clock differs from the capture's, and an event that is shown too early or
// too late would reveal the solution or come after its question.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trace/predict/packet.hpp"

namespace predict {

/// One packet of a reliable connection that a rule took.
struct AlteredPacket {
    bool is_missing = false;      // dropped, or held up: what follows it comes first
    bool passed_capture = false;  // captured on its way to the link, and not behind it
    std::uint32_t dest_qpn = 0;
    std::uint8_t opcode = 0;
    wire::Psn psn;
    std::optional<std::int64_t> t_ns;  // the capture's clock, about
};

struct Placed {
    std::size_t before = 0;  // index of a packet; packets.size(): behind all
    std::size_t connection = 0;
    std::int32_t offset = 0;
};

/// nullopt for one that has nothing to do with these packets. Those that never got farther than to
/// where they were captured become lost.
std::vector<std::optional<Placed>> place(const std::vector<AlteredPacket>& taken,
                                         std::vector<Packet>& packets);

}  // namespace predict
