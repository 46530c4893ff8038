#include "trace/conformance/observed_packet.hpp"

#include <array>

#include "util/digest.hpp"

namespace conformance {
namespace {

// Excludes the AckReq bit, which only a retransmission may have, and FECN and BECN, which the
// network sets.
util::Digest form_of(const wire::Packet& packet) {
    const wire::Bth& bth = *packet.bth;
    util::Digest digest;
    digest.add(bth.opcode | std::uint64_t{bth.se} << 8 | std::uint64_t{bth.padcnt} << 16 |
               std::uint64_t{bth.p_key} << 24 | std::uint64_t{bth.dest_qpn} << 40);
    if (packet.reth) {
        digest.add(packet.reth->va);
        digest.add(std::uint64_t{packet.reth->rkey} << 32 | packet.reth->dmalen);
    }
    if (packet.atomic_eth) {
        digest.add(packet.atomic_eth->va);
        digest.add(packet.atomic_eth->rkey);
        digest.add(packet.atomic_eth->swapdt);
        digest.add(packet.atomic_eth->cmpdt);
    }
    if (packet.immdt)
        digest.add(packet.immdt->value);
    if (packet.ieth)
        digest.add(packet.ieth->rkey);
    digest.add(packet.payload_length);
    return digest;
}

}  // namespace

std::string_view name(Fate fate) {
    constexpr std::array<std::string_view, 6> names{"passed",    "lost",      "doubled",
                                                    "reordered", "corrupted", "changed"};
    return names[static_cast<std::size_t>(fate)];
}

bool ObservedPacket::wants_data() const {
    return is(wire::Operation::RdmaReadRequest) || is(wire::Operation::CmpSwap) ||
           is(wire::Operation::FetchAdd) || is(wire::Operation::Flush) ||
           is(wire::Operation::AtomicWrite);
}

bool ObservedPacket::is_ack() const {
    return is(wire::Operation::Acknowledge) && aeth.kind() == wire::AethKind::Ack;
}

bool ObservedPacket::is_rnr_nak() const {
    return is(wire::Operation::Acknowledge) && aeth.kind() == wire::AethKind::RnrNak;
}

bool ObservedPacket::is_sequence_nak() const {
    return is(wire::Operation::Acknowledge) && aeth.kind() == wire::AethKind::Nak &&
           aeth.code() == 0;
}

bool ObservedPacket::is_fatal_nak() const {
    return is(wire::Operation::Acknowledge) && aeth.kind() == wire::AethKind::Nak &&
           aeth.code() != 0;
}

bool ObservedPacket::is_data() const {
    return is(wire::Operation::RdmaReadResponse) || is(wire::Operation::AtomicAcknowledge);
}

ObservedPacket observe(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet) {
    ObservedPacket seen;
    if (!packet.bth || packet.opcode == nullptr ||
        packet.opcode->transport() != wire::Transport::Rc)
        return seen;
    seen.frame = frame;
    seen.t_ns = t_ns;
    seen.opcode = packet.opcode;
    seen.psn = packet.bth->psn;
    seen.ack_req = packet.bth->a;
    seen.damaged =
        packet.malformed || (packet.icrc && packet.icrc->status == wire::IcrcStatus::Bad);
    seen.aeth = packet.aeth.value_or(wire::Aeth{});
    if (packet.reth) {
        seen.va = packet.reth->va;
        seen.rkey = packet.reth->rkey;
        seen.dmalen = packet.reth->dmalen;
    } else if (packet.atomic_eth) {
        seen.va = packet.atomic_eth->va;
        seen.rkey = packet.atomic_eth->rkey;
    }
    if (packet.atomic_ack_eth)
        seen.value = packet.atomic_ack_eth->origremdt;
    util::Digest digest = form_of(packet);
    seen.form = digest.value();
    digest.add(packet.payload);
    seen.digest = digest.value();
    seen.payload = static_cast<std::uint32_t>(packet.payload_length);
    return seen;
}

std::string_view short_name(const wire::OpcodeInfo& opcode) {
    const std::string_view name = opcode.name;
    const std::size_t space = name.find(' ');
    return space == std::string_view::npos ? name : name.substr(space + 1);
}

}  // namespace conformance
