#include "timeline/packet_row.hpp"

#include <utility>

namespace timeline {
namespace {

// Datagrams name their source QP and have PSNs of no meaning to a request; connected transports are
// what the log predicts.
bool is_connected(const wire::OpcodeInfo& opcode) {
    const auto transport = opcode.transport();
    return transport == wire::Transport::Rc || transport == wire::Transport::Uc ||
           transport == wire::Transport::Xrc;
}

template <typename Header>
void take_addresses(PacketRow& row, const Header& ip) {
    row.source = wire::text(ip.src);
    row.destination = wire::text(ip.dst);
}

}  // namespace

PacketRow row_of(const wire::Packet& packet, std::int64_t t_ns, std::string text) {
    PacketRow row;
    row.t_ns = t_ns;
    row.text = std::move(text);
    if (packet.ipv4)
        take_addresses(row, *packet.ipv4);
    else if (packet.ipv6)
        take_addresses(row, *packet.ipv6);
    if (packet.bth && packet.opcode != nullptr && is_connected(*packet.opcode))
        row.key = PacketKey{row.destination, packet.bth->dest_qpn, packet.bth->psn.value(),
                            packet.opcode->is_response(), packet.opcode->starts_message()};
    return row;
}

}  // namespace timeline
