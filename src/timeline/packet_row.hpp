// A decoded packet as a row of the timeline.
#pragma once

#include <cstdint>
#include <string>

#include "timeline/timeline.hpp"
#include "util/cursor.hpp"
#include "wire/packet.hpp"

namespace timeline {

/// `text`: the packet in a line, as the report renders it. `t_ns`: the capture's clock. `frame`:
/// what `packet` was decoded from.
PacketRow row_of(const wire::Packet& packet, util::Bytes frame, std::int64_t t_ns,
                 std::string text);

}  // namespace timeline
