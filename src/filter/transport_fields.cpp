#include <array>

#include "filter/field_tables.hpp"
#include "filter/getter.hpp"
#include "wire/icrc_hint.hpp"
#include "wire/text/other.hpp"

namespace filter {
namespace {

using wire::Aeth;
using wire::AtomicAckEth;
using wire::AtomicEth;
using wire::Bth;
using wire::Dceth;
using wire::Deth;
using wire::Feth;
using wire::Packet;
using wire::Rdeth;
using wire::Reth;
using wire::Xrceth;
using enum Kind;

Value opcode_name(const View& view) {
    if (view.packet.opcode != nullptr)
        return view.packet.opcode->name;
    return view.packet.bth ? Value(Null()) : Value();
}
Value transport(const View& view) {
    if (view.packet.opcode != nullptr)
        return name(view.packet.opcode->transport());
    return view.packet.dceth ? Value(name(wire::Transport::Dc)) : Value();
}

Value aeth_type(const View& view) {
    return view.packet.aeth ? Value(name(view.packet.aeth->kind())) : Value();
}
// Null if there is no end-to-end flow control.
Value aeth_credits(const View& view) {
    const auto& aeth = view.packet.aeth;
    if (!aeth || aeth->kind() != wire::AethKind::Ack)
        return {};
    return or_null(to_value(aeth->credits()));
}
Value aeth_error(const View& view) {
    const auto& aeth = view.packet.aeth;
    if (!aeth || aeth->kind() != wire::AethKind::Nak)
        return {};
    return aeth->nak_name().value_or("Reserved");
}

// Remote memory that a request addresses, from the RETH or the AtomicETH.
Value va(const View& view) {
    return view.packet.reth ? in<&Packet::reth, &Reth::va>(view)
                            : in<&Packet::atomic_eth, &AtomicEth::va>(view);
}
Value rkey(const View& view) {
    return view.packet.reth ? in<&Packet::reth, &Reth::rkey>(view)
                            : in<&Packet::atomic_eth, &AtomicEth::rkey>(view);
}

Value payload_length(const View& view) {
    const std::size_t length = view.packet.payload_length;
    return view.packet.icrc || length != 0 ? Value(std::uint64_t{length}) : Value();
}
Value icrc_value(const View& view) {
    return view.packet.icrc ? or_null(to_value(view.packet.icrc->value)) : Value();
}
Value icrc_status(const View& view) {
    return view.packet.icrc ? Value(name(view.packet.icrc->status)) : Value();
}
Value icrc_computed(const View& view) {
    const auto& icrc = view.packet.icrc;
    return icrc && icrc->status == wire::IcrcStatus::Bad ? to_value(icrc->computed) : Value();
}
const wire::IcrcHint* hint_of(const View& view) {
    return view.packet.icrc ? view.packet.icrc->hint : nullptr;
}
Value icrc_hint(const View& view) {
    const wire::IcrcHint* hint = hint_of(view);
    if (hint == nullptr)
        return {};
    view.scratch = hint->text();
    return std::string_view(view.scratch);
}
Value icrc_srcport(const View& view) {
    const wire::IcrcHint* hint = hint_of(view);
    return hint != nullptr && hint->kind == wire::IcrcHint::Kind::SourcePort
               ? Value(std::uint64_t{hint->port})
               : Value();
}
Value icrc_reason(const View& view) {
    const auto& icrc = view.packet.icrc;
    return icrc && icrc->status == wire::IcrcStatus::Unchecked ? Value(icrc->reason) : Value();
}

Value vcrc_status(const View& view) {
    return view.packet.vcrc ? Value(name(view.packet.vcrc->status())) : Value();
}
Value vcrc_computed(const View& view) {
    const auto& vcrc = view.packet.vcrc;
    return vcrc && vcrc->status() == wire::IcrcStatus::Bad ? to_value(vcrc->computed) : Value();
}

Value composed(const View& view, std::string text) {
    view.scratch = std::move(text);
    return std::string_view(view.scratch);
}
Value not_roce(const View& view) {
    return view.packet.not_roce ? composed(view, wire::other_summary(view.packet, view.frame))
                                : Null();
}
Value truncated(const View& view) {
    return view.packet.truncated ? composed(view, view.packet.truncated->text()) : Null();
}
Value malformed(const View& view) {
    return view.packet.malformed ? composed(view, view.packet.malformed->text()) : Null();
}

constexpr FieldExtra needs_icrc{.needs_icrc = true};
constexpr FieldExtra omitted{.json = not_in_json};

constexpr auto transport_table = std::to_array<Field>({
    {"bth", Present, "base transport header: the packet is RoCE", has<&Packet::bth>},
    {"bth.opcode", Decimal, "opcode", in<&Packet::bth, &Bth::opcode>},
    {"bth.opcode_name", Text, "\"RC RDMA WRITE Only\"", opcode_name},
    {"bth.transport", Text, "RC, UC, RD, UD, CNP, XRC, DC", transport, omitted},
    {"bth.se", Flag, "solicited event", in<&Packet::bth, &Bth::se>},
    {"bth.m", Flag, "migration state", in<&Packet::bth, &Bth::m>},
    {"bth.padcnt", Decimal, "bytes of padding", in<&Packet::bth, &Bth::padcnt>},
    {"bth.tver", Decimal, "header version, 0", in<&Packet::bth, &Bth::tver>},
    {"bth.p_key", Decimal, "partition key", in<&Packet::bth, &Bth::p_key>},
    {"bth.fecn", Flag, "FECN: the packet met congestion", in<&Packet::bth, &Bth::fecn>},
    {"bth.becn", Flag, "BECN: the opposite direction has congestion", in<&Packet::bth, &Bth::becn>},
    {"bth.destqp", Hex6, "destination queue pair", in<&Packet::bth, &Bth::dest_qpn>},
    {"bth.a", Flag, "acknowledge request", in<&Packet::bth, &Bth::a>},
    {"bth.psn", Kind::Psn, "packet sequence number", in<&Packet::bth, &Bth::psn>},
    {"rdeth", Present, "RD extended transport header", has<&Packet::rdeth>},
    {"rdeth.eecnxt", Decimal, "end-to-end context", in<&Packet::rdeth, &Rdeth::eecnxt>},
    {"dceth", Present, "header of Mellanox's dynamically connected transport", has<&Packet::dceth>},
    {"dceth.bytes", Kind::Bytes, "the 20 bytes of the header", in<&Packet::dceth, &Dceth::bytes>},
    {"deth", Present, "datagram extended transport header", has<&Packet::deth>},
    {"deth.q_key", Hex16, "queue key", in<&Packet::deth, &Deth::q_key>},
    {"deth.srcqp", Hex8, "source queue pair", in<&Packet::deth, &Deth::src_qpn>},
    {"xrceth", Present, "XRC extended transport header", has<&Packet::xrceth>},
    {"xrceth.xrcsrq", Hex6, "shared receive queue", in<&Packet::xrceth, &Xrceth::xrcsrq>},
    {"feth", Present, "FLUSH extended transport header", has<&Packet::feth>},
    {"feth.plt", Hex2, "placement type", in<&Packet::feth, &Feth::plt>},
    {"feth.sel", Decimal, "selectivity: 0 the range, 1 the region", in<&Packet::feth, &Feth::sel>},
    {"reth", Present, "RDMA extended transport header", has<&Packet::reth>},
    {"reth.va", Hex16, "virtual address in the responder's memory", in<&Packet::reth, &Reth::va>},
    {"reth.r_key", Hex8, "rkey", in<&Packet::reth, &Reth::rkey>},
    {"reth.dmalen", Decimal, "DMA length: bytes of the whole message",
     in<&Packet::reth, &Reth::dmalen>},
    {"atomiceth", Present, "atomic extended transport header", has<&Packet::atomic_eth>},
    {"atomiceth.va", Hex16, "virtual address in the responder's memory",
     in<&Packet::atomic_eth, &AtomicEth::va>},
    {"atomiceth.r_key", Hex8, "rkey", in<&Packet::atomic_eth, &AtomicEth::rkey>},
    {"atomiceth.swapdt", Decimal, "value to swap in, or to add",
     in<&Packet::atomic_eth, &AtomicEth::swapdt>},
    {"atomiceth.cmpdt", Decimal, "value to compare with",
     in<&Packet::atomic_eth, &AtomicEth::cmpdt>},
    {"va",
     Hex16,
     "virtual address, of a RETH or AtomicETH",
     va,
     {.json = not_in_json, .wireshark = "infiniband.reth.va"}},
    {"r_key",
     Hex8,
     "rkey, of a RETH or AtomicETH",
     rkey,
     {.json = not_in_json, .wireshark = "infiniband.reth.r_key"}},
    {"aeth", Present, "acknowledge extended transport header", has<&Packet::aeth>},
    {"aeth.syndrome", Decimal, "ACK, RNR NAK or NAK with its code",
     in<&Packet::aeth, &Aeth::syndrome>},
    {"aeth.msn", Decimal, "message sequence number: messages completed",
     in<&Packet::aeth, &Aeth::msn>},
    {"aeth.type", Text, "ACK, RNR NAK, NAK or reserved", aeth_type},
    {"aeth.credits", Decimal, "of an ACK: receive credits", aeth_credits},
    {"aeth.timer_ms", Real, "of an RNR NAK: time to wait, ms",
     in<&Packet::aeth, &Aeth::rnr_timer_ms>},
    {"aeth.error", Text, "of a NAK: \"Remote Access Error\", ...", aeth_error},
    {"atomicacketh", Present, "atomic acknowledge header", has<&Packet::atomic_ack_eth>},
    {"atomicacketh.origremdt", Decimal, "value before the operation",
     in<&Packet::atomic_ack_eth, &AtomicAckEth::origremdt>},
    {"immdt", Hex8, "immediate data", in<&Packet::immdt, &wire::ImmDt::value>},
    {"ieth", Hex8, "rkey to invalidate", in<&Packet::ieth, &wire::Ieth::rkey>},
});

constexpr auto outcome_table = std::to_array<Field>({
    {"payload_len", Decimal, "bytes of payload on the wire", payload_length},
    {"icrc", Present, "invariant CRC", has<&Packet::icrc>},
    {"icrc.value", Hex8, "value in the packet", icrc_value,
     in_wireshark("infiniband.invariant.crc")},
    {"icrc.status", Text, "good, bad or unchecked", icrc_status, needs_icrc},
    {"icrc.computed", Hex8, "if bad: the correct value", icrc_computed, needs_icrc},
    {"icrc.right_with_srcport", Decimal, "if bad: the UDP source port that makes it good",
     icrc_srcport, needs_icrc},
    {"icrc.hint", Text, "if bad: what makes it good", icrc_hint, needs_icrc},
    {"icrc.reason", Text, "if unchecked: the reason", icrc_reason, needs_icrc},
    {"vcrc", Present, "variant CRC, of native InfiniBand", has<&Packet::vcrc>},
    {"vcrc.value", Hex4, "value in the packet", in<&Packet::vcrc, &wire::Vcrc::value>,
     in_wireshark("infiniband.variant.crc")},
    {"vcrc.status", Text, "good, bad or unchecked", vcrc_status, needs_icrc},
    {"vcrc.computed", Hex4, "if bad: the correct value", vcrc_computed, needs_icrc},
    {"not_roce", Text, "what the packet is instead of RoCE", not_roce},
    {"truncated", Text, "what the capture lacks of the packet", truncated},
    {"malformed", Text, "why the packet is not valid", malformed},
});

}  // namespace

std::span<const Field> transport_fields() {
    return transport_table;
}

std::span<const Field> outcome_fields() {
    return outcome_table;
}

}  // namespace filter
