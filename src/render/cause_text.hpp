// The cause of a packet as text.
#pragma once

#include <string>

#include "trace/timeline/packet_row.hpp"

namespace render {

/// The cause as a listing appends it to a packet: "← client wr 1, 2 of 3, again". Empty if unknown.
std::string cause_arrow(const timeline::PacketRow& packet);

/// The cause by itself: "client wr 1 RDMA_WRITE 10000 B, PSN 2 of 3", or "answers client wr 1 …".
/// Empty if unknown.
std::string cause_comment(const timeline::PacketRow& packet);

}  // namespace render
