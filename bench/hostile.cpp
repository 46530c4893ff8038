#include "bench/hostile.hpp"

#include <algorithm>

#include "bench/message.hpp"
#include "bench/syndrome.hpp"
#include "wire/encode.hpp"

namespace bench {
namespace {

constexpr std::uint32_t responder_qpn = 0x11;
constexpr std::uint32_t requester_qpn = 0x12;
constexpr std::uint32_t first_psn = 0xfff000;

wire::Packet headers(bool to_server, std::uint8_t opcode, std::uint32_t qpn, std::uint32_t psn) {
    wire::MacAddress from{{0x02, 0, 0, 0, 0, 2}};
    wire::MacAddress to{{0x02, 0, 0, 0, 0, 1}};
    wire::Ipv4Address source{{192, 0, 2, 2}};
    wire::Ipv4Address destination{{192, 0, 2, 1}};
    if (!to_server) {
        std::swap(from, to);
        std::swap(source, destination);
    }
    wire::Packet packet;
    packet.ethernet = wire::Ethernet{.dst = to, .src = from, .type = 0};
    packet.ipv4 = wire::Ipv4{.df = true, .ttl = 64, .src = source, .dst = destination};
    packet.udp = wire::Udp{.src_port = 50000};
    packet.bth =
        wire::Bth{.opcode = opcode, .p_key = 0xffff, .dest_qpn = qpn, .psn = wire::Psn(psn)};
    return packet;
}

wire::Packet send(std::uint32_t qpn, std::uint32_t psn) {
    wire::Packet packet = headers(true, 0x04, qpn, psn);
    packet.bth->a = true;
    packet.payload = payload_bytes(8);
    return packet;
}

wire::Packet remote(std::uint8_t opcode, std::uint32_t psn) {
    wire::Packet packet = headers(true, opcode, responder_qpn, psn);
    packet.bth->a = true;
    packet.reth = wire::Reth{.va = 0x7f0000000000, .rkey = 0x20025, .dmalen = 8};
    if (opcode != 0x0c)
        packet.payload = payload_bytes(8);
    return packet;
}

wire::Packet answer(std::uint8_t syndrome, std::uint32_t psn = first_psn) {
    wire::Packet packet = headers(false, 0x11, requester_qpn, psn);
    packet.aeth = wire::Aeth{.syndrome = syndrome, .msn = 1};
    return packet;
}

wire::Packet unasked(std::uint32_t i) {
    const std::uint32_t psn = first_psn + i / 4;
    switch (i % 4) {
        case 0:
            return remote(0x0a, psn);
        case 1: {
            wire::Packet data = headers(false, 0x10, requester_qpn, psn + 5);
            data.aeth = wire::Aeth{.syndrome = ack_syndrome, .msn = 1};
            data.payload = payload_bytes(8);
            return data;
        }
        case 2:
            return answer(psn_error_syndrome);
        default:
            return answer(ack_syndrome, first_psn + i / 8);
    }
}

}  // namespace

std::optional<Hostile> hostile(std::string_view name) {
    const auto* const found = std::ranges::find(hostile_names, name);
    if (found == hostile_names.end())
        return std::nullopt;
    return static_cast<Hostile>(found - hostile_names.begin());
}

wire::Packet HostileTraffic::packet() {
    const std::uint32_t i = number_++;
    switch (kind_) {
        case Hostile::Naks:
            return i % 2 == 0 ? remote(0x0a, first_psn + i / 2) : answer(psn_error_syndrome);
        case Hostile::Descending:
            return send(responder_qpn, first_psn - i);
        case Hostile::Random:
            return send(responder_qpn, static_cast<std::uint32_t>(random_()));
        case Hostile::QueuePairs:
            return send(0x100 + i % 0xfffe00, first_psn);
        case Hostile::Reads:
            return remote(0x0c, first_psn + i);
        case Hostile::Acks:
            return i % 3 < 2 ? remote(0x0a, first_psn + i / 3) : answer(ack_syndrome);
        case Hostile::Missing:
            return i % 2 == 0 ? remote(0x0a, first_psn + i)
                              : answer(ack_syndrome, first_psn + i - 1);
        case Hostile::Damaged:
            return i % 2 == 0 ? remote(0x0a, first_psn + i / 2) : answer(ack_syndrome);
        case Hostile::Unasked:
            return unasked(i);
    }
    return {};
}

Traffic::Frame HostileTraffic::next() {
    auto bytes = wire::encode(packet());
    if (kind_ == Hostile::Damaged && number_ > 1 && number_ % 2 == 1)
        bytes.back() ^= std::byte{1};
    return {std::chrono::seconds(1'767'225'600) + std::chrono::microseconds(number_), bytes};
}

}  // namespace bench
