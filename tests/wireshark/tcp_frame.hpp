// A TCP segment from the client (192.0.2.2, port 51234) to the server (192.0.2.1), in its frame.
// Wireshark 4.4 assigns port 40000 to another protocol.
#pragma once

#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "wire/sample_frames.hpp"

namespace wireshark_test {

inline std::vector<std::byte> tcp_frame(util::Bytes payload, unsigned port,
                                        std::uint32_t sequence) {
    auto frame = wire_test::from_hex(
        fmt::format("020000000001 020000000002 0800 4500{:04x} 00000000 4006 0000 c0000202 "
                    "c0000201 c822{:04x} {:08x} 00000000 5018 1000 0000 0000",
                    40 + payload.size(), port, sequence));
    frame.insert(frame.end(), payload.begin(), payload.end());
    return frame;
}

}  // namespace wireshark_test
