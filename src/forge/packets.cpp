#include "forge/packets.hpp"

#include <algorithm>
#include <utility>

#include "wire/encode.hpp"

namespace forge {
namespace {

constexpr std::uint8_t rc_acknowledge = 0x11;
constexpr std::uint8_t rc_read_response_only = 0x10;

Frame response(const Seen& request, std::uint32_t dest_qpn, wire::Psn psn, std::uint8_t opcode,
               std::uint8_t syndrome, util::Bytes payload) {
    return altered(request, [&](wire::Packet& packet) {
        if (packet.ethernet)
            std::swap(packet.ethernet->src, packet.ethernet->dst);
        if (packet.ipv4)
            std::swap(packet.ipv4->src, packet.ipv4->dst);
        if (packet.ipv6)
            std::swap(packet.ipv6->src, packet.ipv6->dst);
        packet.bth->opcode = opcode;
        packet.bth->dest_qpn = dest_qpn;
        packet.bth->psn = psn;
        packet.bth->a = false;
        packet.aeth = wire::Aeth{.syndrome = syndrome, .msn = 1};
        packet.payload = payload;
    });
}

}  // namespace

wire::Gid source_gid(const wire::Packet& packet) {
    if (packet.ipv6)
        return packet.ipv6->src;
    wire::Gid gid;
    if (packet.ipv4) {
        constexpr std::uint8_t mapped = 0xff;
        constexpr std::size_t address_at = wire::Gid::size - wire::Ipv4Address::size;
        gid.bytes[address_at - 2] = gid.bytes[address_at - 1] = mapped;
        std::ranges::copy(packet.ipv4->src.bytes, gid.bytes.begin() + address_at);
    }
    return gid;
}

Frame altered(const Seen& seen, const std::function<void(wire::Packet&)>& edit) {
    wire::Packet packet = seen.packet();
    if (packet.ipv4)
        packet.ipv4->ttl = 1;
    if (packet.ipv6)
        packet.ipv6->hop_limit = 1;
    edit(packet);
    return wire::encode(packet);
}

Frame write_like(const Seen& write, wire::Psn psn, util::Bytes payload) {
    return altered(write, [&](wire::Packet& packet) {
        packet.bth->psn = psn;
        packet.reth->dmalen = static_cast<std::uint32_t>(payload.size());
        packet.payload = payload;
    });
}

Frame acknowledge_of(const Seen& request, std::uint32_t dest_qpn, wire::Psn psn,
                     std::uint8_t syndrome) {
    return response(request, dest_qpn, psn, rc_acknowledge, syndrome, {});
}

Frame read_response_of(const Seen& request, std::uint32_t dest_qpn, wire::Psn psn,
                       util::Bytes payload) {
    return response(request, dest_qpn, psn, rc_read_response_only, syndrome::ack, payload);
}

}  // namespace forge
