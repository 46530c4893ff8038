// A message of a requester. A place is a PSN, counted from the connection's first one: it does not
// wrap.
#pragma once

#include <cstdint>

namespace simulate {

struct Message {
    std::uint32_t first = 0;  ///< place
    std::uint32_t psns = 1;
    /// A READ or an atomic: its request is one packet, its response has a packet for each PSN, and no
    /// ACK replaces that.
    bool wants_data = false;

    std::uint32_t end() const { return first + psns; }
};

}  // namespace simulate
