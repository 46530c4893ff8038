#include "trace/conformance/observed_packet.hpp"

#include <array>

#include "util/digest.hpp"
#include "wire/icrc_hint.hpp"

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

bool is_damaged(const wire::Packet& packet, IcrcTrust trust) {
    return trust == IcrcTrust::Full ? wire::is_damaged(packet) : packet.malformed.has_value();
}

ObservedPacket observe(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet,
                       IcrcTrust trust) {
    ObservedPacket seen;
    if (!packet.bth || packet.opcode == nullptr ||
        packet.opcode->transport() != wire::Transport::Rc)
        return seen;
    static_cast<flow::Seen&>(seen) = flow::Seen::of(frame, t_ns, packet);
    seen.has_wrong_icrc = packet.icrc && packet.icrc->status == wire::IcrcStatus::Bad;
    seen.is_damaged = is_damaged(packet, trust);
    if (packet.atomic_ack_eth)
        seen.value = packet.atomic_ack_eth->origremdt;
    util::Digest digest = form_of(packet);
    // The length of a sliced packet may be that of what is left.
    const bool is_whole = !packet.truncated || (packet.icrc && !packet.truncated->is_sliced);
    seen.form = is_whole ? digest.value() : 0;
    digest.add(packet.payload);
    seen.digest = digest.value();
    seen.is_cut = packet.payload.size() < packet.payload_length;
    return seen;
}

std::string_view short_name(const wire::OpcodeInfo& opcode) {
    const std::string_view name = opcode.name;
    return name.substr(name.find(' ') + 1);
}

}  // namespace conformance
