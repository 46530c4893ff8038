// Decodes from the BTH to the ICRC, for the decoder only.
#pragma once

#include <string_view>

#include "util/cursor.hpp"
#include "wire/frame_reader.hpp"
#include "wire/icrc.hpp"
#include "wire/packet.hpp"

namespace wire {

/// Facts about the headers before the BTH that the ICRC check needs.
struct IcrcCover {
    IcrcLayout layout{};
    /// Offset of the network header in the frame.
    std::size_t begin = 0;
    /// Why the ICRC of such a packet is not checked, static text; empty if it is checked.
    std::string_view unchecked;
};

/// `reader` is at the BTH.
void decode_transport(FrameReader& reader, const IcrcCover& cover, Packet& packet);

}  // namespace wire
