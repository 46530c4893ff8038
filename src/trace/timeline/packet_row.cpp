#include "trace/timeline/packet_row.hpp"

#include <optional>
#include <utility>
#include <variant>

#include "trace/flow/connect.hpp"
#include "trace/flow/host.hpp"
#include "wire/tcp.hpp"

namespace timeline {
namespace {

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

// Takes the GIDs of RoCEv1 in the form that the logs have.
void take_gids(PacketRow& row, const wire::Grh& grh) {
    row.source = flow::text(flow::Host::of(grh.sgid));
    row.destination = flow::text(flow::Host::of(grh.dgid));
}

void take_lids(PacketRow& row, const wire::Lrh& lrh) {
    row.source = wire::lid_text(lrh.slid);
    row.destination = wire::lid_text(lrh.dlid);
}

PacketKey key_of(const wire::Packet& packet, const PacketRow& row) {
    const bool is_nak = packet.aeth && (packet.aeth->kind() == wire::AethKind::Nak ||
                                        packet.aeth->kind() == wire::AethKind::RnrNak);
    return {.destination = row.destination,
            .dest_qpn = packet.bth->dest_qpn,
            .psn = packet.bth->psn.value(),
            .is_response = packet.opcode->is_response(),
            .starts_message = packet.opcode->starts_message(),
            .is_nak = is_nak,
            .t_ns = row.t_ns,
            .source = row.source,
            .source_qpn = {}};
}

PacketKey datagram_key_of(const wire::Packet& packet, const PacketRow& row) {
    PacketKey key = key_of(packet, row);
    key.source_qpn = packet.deth->src_qpn;
    return key;
}

// True for a datagram between programs: QPs 0 and 1 are the device's own (IBTA volume 1, 3.9.4).
bool is_programs_datagram(const wire::Packet& packet) {
    return packet.opcode->transport() == wire::Transport::Ud && packet.deth &&
           packet.deth->src_qpn > 1 && packet.bth->dest_qpn > 1;
}

// Returns the key of a message that names a connection; UD service resolution does not.
std::optional<CmKey> key_of(const wire::Cm& cm, const PacketRow& row) {
    const auto ids = flow::comm_ids(cm);
    if (!ids)
        return std::nullopt;
    CmKey key{row.source, row.destination, ids->local, ids->remote, std::nullopt};
    if (const auto* request = cm.as<wire::CmReq>()) {
        key.local_qpn = request->local_qpn;
        key.kind = CmKey::Kind::ConnectRequest;
    } else if (const auto* reply = cm.as<wire::CmRep>()) {
        key.local_qpn = reply->local_qpn;
        key.kind = CmKey::Kind::ConnectReply;
    } else if (cm.as<wire::CmDreq>() != nullptr) {
        key.kind = CmKey::Kind::DisconnectRequest;
    }
    return key;
}

}  // namespace

void PacketRow::set_origin(const Origin& origin) {
    if (const auto* place = std::get_if<RequestPacket>(&origin))
        cause = place->cause();
    else if (const auto* by = std::get_if<SetUp>(&origin))
        set_up = *by;
}

PacketRow row_of(const wire::Packet& packet, util::Bytes frame, std::int64_t t_ns,
                 std::string text) {
    PacketRow row;
    row.t_ns = t_ns;
    row.text = std::move(text);
    row.is_roce = packet.is_roce();
    if (packet.ipv4)
        take_addresses(row, *packet.ipv4);
    else if (packet.ipv6)
        take_addresses(row, *packet.ipv6);
    else if (packet.grh)
        take_gids(row, *packet.grh);
    else if (packet.lrh)
        take_lids(row, *packet.lrh);
    if (packet.bth && packet.opcode != nullptr && is_connected(*packet.opcode))
        row.key = key_of(packet, row);
    else if (packet.bth && packet.opcode != nullptr && is_programs_datagram(packet))
        row.key = datagram_key_of(packet, row);
    else if (packet.cm)
        row.cm = key_of(*packet.cm, row);
    else if (const auto segment = wire::tcp_segment(packet, frame))
        row.segment = SegmentKey{row.source, row.destination, segment->src_port, segment->dst_port};
    return row;
}

}  // namespace timeline
