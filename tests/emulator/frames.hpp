// Frames for tests of the link emulator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/encode.hpp"
#include "wire/sample_frames.hpp"

namespace emulator_test {

using Bytes = std::vector<std::byte>;

inline constexpr std::uint8_t write_first = 0x06;
inline constexpr std::uint8_t write_middle = 0x07;
inline constexpr std::uint8_t acknowledge = 0x11;

inline Bytes roce_frame(std::uint32_t psn, std::uint8_t opcode = write_middle,
                        wire_test::Network network = wire_test::Network::Ipv4) {
    const wire::OpcodeInfo& info = *wire::find_opcode(opcode);
    wire::Packet packet = wire_test::sample_packet(info, network, info.carries_payload() ? 64 : 0);
    packet.bth->psn = wire::Psn(psn);
    return wire::encode(packet);
}

inline wire::Packet decoded(util::Bytes frame) {
    return wire::decode(frame, wire::LinkType::Ethernet);
}

inline std::uint32_t psn_of(util::Bytes frame) {
    return decoded(frame).bth->psn.value();
}

/// A frame that is not RoCE: an ARP request.
inline Bytes arp_frame() {
    Bytes frame(60);
    std::fill_n(frame.begin(), 6, std::byte{0xff});
    frame[6] = std::byte{2};
    frame[12] = std::byte{0x08};
    frame[13] = std::byte{0x06};
    return frame;
}

}  // namespace emulator_test
