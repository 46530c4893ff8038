// What caused a packet, in words.
#pragma once

#include <string>

#include "trace/timeline/packet_row.hpp"

namespace render {

/// Behind a packet in a listing: "← client wr 1, 2 of 3, again"; empty where nothing is known.
std::string cause_arrow(const timeline::PacketRow& packet);

/// By itself: "client wr 1 RDMA_WRITE 10000 B, PSN 2 of 3", or "answers client wr 1 …"; empty where
/// nothing is known.
std::string cause_comment(const timeline::PacketRow& packet);

}  // namespace render
