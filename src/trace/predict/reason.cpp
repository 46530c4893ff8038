// Reasons why a packet was to be expected. They follow only from the specification and the packets
// so far: if a device had a choice, there is no reason.
#include <fmt/format.h>

#include "trace/predict/answer.hpp"

namespace predict {
namespace {

bool is_response(Kind kind) {
    return kind == Kind::Response || kind == Kind::Ack || kind == Kind::Nak || kind == Kind::RnrNak;
}

std::string reason_for_nak(const ReliablePacket& packet, const Answer& answer,
                           const ConnectionState& ends) {
    if (!packet.is_sequence_nak())
        return answer.kind == Kind::Nak ? "this NAK's PSN is that of the request that it refuses"
                                        : "the responder refuses that request with a NAK";
    if (packet.offset != ends.expected())
        return {};
    if (answer.kind == Kind::Nak)
        return "a NAK's PSN is the one that the responder expects";
    return ends.has_gap()
               ? "the last packet did not have the PSN that the responder expects: it sends a NAK"
               : "";
}

std::string reason_for_ack(const ReliablePacket& packet, const Answer& answer,
                           const ConnectionState& ends) {
    if (answer.kind == Kind::Ack)
        return "an ACK's PSN is that of the last request that it acknowledges, with all before it";
    if (packet.offset >= ends.expected())
        return {};
    if (answer.kind == Kind::Nak)
        return "the responder accepted this request: it sends an ACK";
    if (answer.kind == Kind::Response)
        return "READs and atomics get responses: SENDs and WRITEs get ACKs";
    return {};
}

std::string reason_for_response(const ReliablePacket& packet, const Answer& answer) {
    if (answer.kind == Kind::Ack || answer.kind == Kind::Read)
        return packet.is(wire::Operation::AtomicAcknowledge)
                   ? "the response to an atomic has its result: there is no plain ACK"
                   : "the response to a READ is its data: there is no plain ACK";
    if (answer.kind != Kind::Response && answer.kind != Kind::Atomic)
        return {};
    return packet.is(wire::Operation::AtomicAcknowledge)
               ? "an atomic's response has the PSN of its request"
               : "a READ's responses have consecutive PSNs, from the PSN of the request on";
}

// The packet is a retransmission.
std::string reason_for_repeated(const ReliablePacket& packet, const ConnectionState& ends) {
    constexpr std::int64_t shortest_timeout_ns = 10'000'000;
    const auto& last = ends.last_request();
    if (!last || ends.was_held(packet.offset))
        return {};
    if (packet.offset == last->offset + static_cast<std::int32_t>(last->psns))
        return "the requester retransmits all packets from there on (go-back-N)";
    if (ends.was_asked_for(packet.offset))
        return "the requester goes back to the PSN that the NAK asks for";
    if (ends.oldest_open() != packet.offset)
        return {};
    if (packet.kind() == Kind::Read && ends.misses_response())
        return "a response is missing: the requester sends the request again, from that PSN on";
    return packet.t_ns - ends.last()->t_ns > shortest_timeout_ns
               ? "no response arrived in time: the requester retransmits from the oldest "
                 "unacknowledged packet on"
               : "";
}

std::string reason_for_request(const ReliablePacket& packet, const Answer& answer,
                               const ConnectionState& ends) {
    if (packet.offset < ends.behind_sent())
        return reason_for_repeated(packet, ends);
    const auto& last = ends.last_request();
    if (packet.offset != ends.behind_sent() || !answer.offset || answer.kind != packet.kind())
        return {};
    if (*answer.offset < packet.offset && last && last->kind() == Kind::Read && last->psns > 1)
        return "a READ request takes as many PSNs as its response has packets";
    if (*answer.offset < packet.offset)
        return "until it learns of a loss, the requester continues with the next new PSN";
    return "requests have consecutive PSNs";
}

}  // namespace

std::string reason(const ReliablePacket& packet, const Answer& answer,
                   const ConnectionState& ends) {
    if (!packet.is_response() && is_response(answer.kind))
        return "the requester sends the next packet: a request, not a response";
    if (packet.is_response() && !is_response(answer.kind) &&
        !(answer.kind == Kind::Read || answer.kind == Kind::Atomic))
        return "the responder sends the next packet: a response, not a request";
    switch (packet.kind()) {
        case Kind::Nak:
            return reason_for_nak(packet, answer, ends);
        case Kind::RnrNak:
            return answer.kind == Kind::RnrNak
                       ? "an RNR NAK's PSN is that of the request that found no receive"
                       : "the request needs a receive, and none was posted: RNR NAK";
        case Kind::Ack:
            return reason_for_ack(packet, answer, ends);
        case Kind::Response:
            return reason_for_response(packet, answer);
        default:
            return reason_for_request(packet, answer, ends);
    }
}

}  // namespace predict
