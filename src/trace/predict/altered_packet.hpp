// Finds the place of the link emulator's events among the packets. The place follows from the PSNs,
// because the emulator's clock differs from the capture's. An event shown too early would reveal
// the solution; one shown too late would come after its question.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trace/predict/packet.hpp"

namespace predict {

/// One packet of a reliable connection to which a rule was applied.
struct AlteredPacket {
    bool is_missing = false;      // dropped or delayed: later packets come first
    bool passed_capture = false;  // captured before the link, but not after it
    std::uint32_t dest_qpn = 0;
    std::uint8_t opcode = 0;
    wire::Psn psn;
    std::optional<std::int64_t> t_ns;  // the capture's clock, approximately
};

struct Placed {
    std::size_t before = 0;  // index of a packet; packets.size(): after all
    std::size_t connection = 0;
    std::int32_t offset = 0;
};

/// Returns nullopt for events that do not concern these packets. Marks packets that got no farther
/// than the capture point as lost.
std::vector<std::optional<Placed>> place(const std::vector<AlteredPacket>& taken,
                                         std::vector<ReliablePacket>& packets);

}  // namespace predict
