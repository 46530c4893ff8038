#include "trace/predict/packet.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace predict {
namespace {

constexpr std::array<std::string_view, 9> names{"send", "write", "read", "atomic", "response",
                                                "ack",  "nak",   "rnr",  "other"};

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

Kind ReliablePacket::kind() const {
    switch (opcode->operation) {
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
    switch (aeth.kind()) {
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

std::optional<ReliablePacket> packet_of(std::uint64_t frame, std::int64_t t_ns,
                                        const wire::Packet& packet, std::string source,
                                        std::string destination) {
    if (!packet.bth || packet.opcode == nullptr ||
        packet.opcode->transport() != wire::Transport::Rc)
        return std::nullopt;
    ReliablePacket result;
    static_cast<flow::Seen&>(result) = flow::Seen::of(frame, t_ns, packet);
    result.source = std::move(source);
    result.destination = std::move(destination);
    result.dest_qpn = packet.bth->dest_qpn;
    return result;
}

std::string psn_text(std::int32_t offset) {
    return fmt::format("PSN {:+}", offset);
}

}  // namespace predict
