#include "trace/predict/packet.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace predict {
namespace {

constexpr std::array<std::string_view, 9> names{"send", "write", "read", "atomic", "response",
                                                "ack",  "nak",   "rnr",  "other"};

Kind kind_of(const wire::Packet& packet) {
    switch (packet.opcode->operation) {
        case wire::Operation::Send:
            return Kind::Send;
        case wire::Operation::RdmaWrite:
            return Kind::Write;
        case wire::Operation::RdmaReadRequest:
            return Kind::Read;
        case wire::Operation::CmpSwap:
        case wire::Operation::FetchAdd:
            return Kind::Atomic;
        case wire::Operation::RdmaReadResponse:
        case wire::Operation::AtomicAcknowledge:
            return Kind::Response;
        case wire::Operation::Acknowledge:
            break;
        default:
            return Kind::Other;
    }
    if (!packet.aeth)
        return Kind::Other;
    switch (packet.aeth->kind()) {
        case wire::AethKind::Ack:
            return Kind::Ack;
        case wire::AethKind::Nak:
            return Kind::Nak;
        case wire::AethKind::RnrNak:
            return Kind::RnrNak;
        case wire::AethKind::Reserved:
            break;
    }
    return Kind::Other;
}

}  // namespace

std::string_view name(Kind kind) {
    return names[static_cast<std::size_t>(kind)];
}

std::optional<Kind> kind_of(std::string_view word) {
    const auto* const found = std::ranges::find(names, word);
    if (found == names.end() || word == name(Kind::Other))
        return std::nullopt;
    return static_cast<Kind>(found - names.begin());
}

bool Packet::is_atomic_answer() const {
    const wire::OpcodeInfo* info = wire::find_opcode(opcode);
    return info != nullptr && info->operation == wire::Operation::AtomicAcknowledge;
}

std::optional<Packet> packet_of(const wire::Packet& packet, std::string source,
                                std::string destination, std::int64_t t_ns) {
    if (!packet.bth || packet.opcode == nullptr ||
        packet.opcode->transport() != wire::Transport::Rc)
        return std::nullopt;
    Packet result;
    result.source = std::move(source);
    result.destination = std::move(destination);
    result.dest_qpn = packet.bth->dest_qpn;
    result.opcode = packet.bth->opcode;
    result.kind = kind_of(packet);
    result.is_response = packet.opcode->is_response();
    result.is_sequence_nak = result.kind == Kind::Nak && packet.aeth->code() == 0;
    result.length = result.kind == Kind::Read && packet.reth
                        ? packet.reth->dmalen
                        : static_cast<std::uint32_t>(packet.payload_length);
    result.is_damaged = packet.icrc && packet.icrc->status == wire::IcrcStatus::Bad;
    result.psn = packet.bth->psn;
    result.t_ns = t_ns;
    return result;
}

std::string psn_text(std::int32_t offset) {
    return fmt::format("PSN {:+}", offset);
}

}  // namespace predict
