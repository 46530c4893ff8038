// From the BTH to the ICRC, inside the decoder only.
#pragma once

#include <string_view>

#include "util/cursor.hpp"
#include "wire/frame_reader.hpp"
#include "wire/icrc.hpp"
#include "wire/packet.hpp"

namespace wire {

/// What the ICRC's check needs to know about the headers in front of the BTH.
struct IcrcCover {
    IcrcLayout layout{};
    /// The captured bytes from the network header on.
    util::Bytes from_network_header;
    /// Why the ICRC of such a packet is not checked, static text; empty when it is.
    std::string_view unchecked;
};

/// `reader` stands at the BTH.
void decode_transport(FrameReader& reader, const IcrcCover& cover, Packet& packet);

}  // namespace wire
