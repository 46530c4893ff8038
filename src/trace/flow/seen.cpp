#include "trace/flow/seen.hpp"

#include <fmt/format.h>

#include "wire/icrc_hint.hpp"

namespace flow {
namespace {

// Of a response whose AETH the capture cut: neither an ACK nor a NAK.
constexpr wire::Aeth cut_aeth{.syndrome = 0x40, .msn = 0};

}  // namespace

bool has_congestion_mark(const wire::Packet& packet) {
    constexpr std::uint8_t congestion_experienced = 3;
    return (packet.ipv4 && packet.ipv4->ecn() == congestion_experienced) ||
           (packet.ipv6 && packet.ipv6->ecn() == congestion_experienced);
}

Seen Seen::of(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet) {
    Seen seen{.frame = frame,
              .t_ns = t_ns,
              .opcode = packet.opcode,
              .psn = packet.bth->psn,
              .payload = static_cast<std::uint32_t>(packet.payload_length),
              .aeth = packet.aeth.value_or(cut_aeth),
              .p_key = packet.bth->p_key,
              .ip_id = packet.ipv4 ? packet.ipv4->id : std::uint16_t{0},
              .ack_req = packet.bth->a,
              .is_damaged = wire::is_damaged(packet),
              .is_marked = has_congestion_mark(packet),
              .lacks_headers = packet.truncated && !packet.icrc};
    seen.hop_limit = packet.ipv4   ? packet.ipv4->ttl
                     : packet.ipv6 ? packet.ipv6->hop_limit
                     : packet.grh  ? packet.grh->hoplmt
                                   : std::uint8_t{0};
    if (packet.reth) {
        seen.va = packet.reth->va;
        seen.rkey = packet.reth->rkey;
        seen.dmalen = packet.reth->dmalen;
    } else if (packet.atomic_eth) {
        seen.va = packet.atomic_eth->va;
        seen.rkey = packet.atomic_eth->rkey;
        seen.dmalen = 8;
    }
    if (packet.deth)
        seen.q_key = packet.deth->q_key;
    return seen;
}

bool Seen::wants_data() const {
    return is(wire::Operation::RdmaReadRequest) || is(wire::Operation::CmpSwap) ||
           is(wire::Operation::FetchAdd) || is(wire::Operation::Flush) ||
           is(wire::Operation::AtomicWrite);
}

std::string Seen::text() const {
    std::string line = fmt::format("{}  PSN {:#08x}", opcode->name, psn);
    if (lacks_headers)
        return line + "  (rest not captured)";
    if (opcode->has(wire::header::aeth))
        line += "  " + aeth.text();
    if (opcode->has(wire::header::reth | wire::header::atomic_eth))
        line += fmt::format("  va {:#x} rkey {:#010x}, {} B", va, rkey, dmalen);
    else if (payload != 0)
        line += fmt::format("  {} B", payload);
    if (is_damaged || hint != nullptr)
        line += hint != nullptr ? "  ICRC wrong, " + hint->text() : "  ICRC wrong";
    return line;
}

}  // namespace flow
