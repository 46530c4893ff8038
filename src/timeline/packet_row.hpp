// A decoded packet as a row of the timeline.
#pragma once

#include <cstdint>
#include <string>

#include "timeline/timeline.hpp"
#include "wire/packet.hpp"

namespace timeline {

/// `text`: the packet in a line, as the report renders it. `t_ns`: the capture's clock.
PacketRow row_of(const wire::Packet& packet, std::int64_t t_ns, std::string text);

}  // namespace timeline
