// Packets of a synthetic connection between "c" and "s". The requester's first PSN is 0xfffffe, so
// that PSNs wrap.
#pragma once

#include <array>

#include "trace/predict/packet.hpp"

namespace predict_test {

inline constexpr std::uint32_t first_psn = 0xfffffe;

// Opcodes as in include/rdma/ib_pack.h.
inline constexpr std::uint8_t send_only = 0x04;
inline constexpr std::uint8_t write_first = 0x06;
inline constexpr std::uint8_t write_middle = 0x07;
inline constexpr std::uint8_t write_last = 0x08;
inline constexpr std::uint8_t read_request = 0x0c;
inline constexpr std::uint8_t response_first = 0x0d;
inline constexpr std::uint8_t response_last = 0x0f;
inline constexpr std::uint8_t acknowledge = 0x11;
inline constexpr std::uint8_t atomic_answer = 0x12;
inline constexpr std::uint8_t fetch_add = 0x14;

// Syndromes of an AETH (IBTA volume 1, table 44).
inline constexpr std::uint8_t rnr_nak = 0x20;
inline constexpr std::uint8_t reserved = 0x40;
inline constexpr std::uint8_t nak_sequence = 0x60;
inline constexpr std::uint8_t nak_access = 0x62;

inline predict::ReliablePacket packet(std::uint8_t opcode, std::int32_t offset,
                                      std::uint32_t psns = 1, std::uint8_t syndrome = 0) {
    predict::ReliablePacket made;
    made.opcode = wire::find_opcode(opcode);
    made.aeth.syndrome = syndrome;
    made.source = made.is_response() ? "s" : "c";
    made.destination = made.is_response() ? "c" : "s";
    made.dest_qpn = made.is_response() ? 0x12 : 0x11;
    made.dmalen = psns * 1024;
    made.psn = wire::Psn(first_psn + static_cast<std::uint32_t>(offset));
    made.connection = 0;
    made.offset = offset;
    made.psns = psns;
    return made;
}

inline predict::ReliablePacket write(std::int32_t offset) {
    constexpr std::array opcodes{write_first, write_middle, write_last};
    return packet(opcodes.at(static_cast<std::size_t>(offset) % 3), offset);
}
inline predict::ReliablePacket ack(std::int32_t offset) {
    return packet(acknowledge, offset);
}
inline predict::ReliablePacket nak(std::int32_t offset) {
    return packet(acknowledge, offset, 1, nak_sequence);
}
inline predict::ReliablePacket rnr(std::int32_t offset) {
    return packet(acknowledge, offset, 1, rnr_nak);
}
inline predict::ReliablePacket read(std::int32_t offset, std::uint32_t psns) {
    return packet(read_request, offset, psns);
}
inline predict::ReliablePacket response(std::int32_t offset) {
    return packet(response_first, offset);
}

}  // namespace predict_test
