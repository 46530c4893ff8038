// What must hold for every frame that is anonymized, whatever its bytes are.
#pragma once

#include <string>
#include <vector>

#include "anonymize/frame.hpp"
#include "wire/header_span.hpp"
#include "wire/packet.hpp"

namespace anonymize_test {

struct AnonymousFrame {
    std::vector<std::byte> bytes;
    wire::LinkType link{};
    std::size_t removed = 0;
};

inline std::optional<AnonymousFrame> anonymized(anonymize::Anonymizer& anonymizer,
                                                util::Bytes frame, wire::LinkType link,
                                                std::size_t length) {
    const auto result = anonymizer.frame(wire::decode(frame, link, length), frame, link);
    if (!result)
        return std::nullopt;
    return AnonymousFrame{
        {result->bytes.begin(), result->bytes.end()}, result->link, result->removed};
}

/// Where the headers are, without encapsulations.
inline std::vector<wire::HeaderSpan> places(const wire::Packet& packet, util::Bytes frame,
                                            std::size_t removed) {
    std::vector<wire::HeaderSpan> spans;
    for (wire::HeaderSpan span : wire::header_spans(packet, frame))
        if (span.header != wire::Header::Outer) {
            span.offset -= removed;
            spans.push_back(span);
        }
    return spans;
}

template <typename T>
std::string text_of(const std::optional<T>& reason) {
    return reason ? reason->text() : std::string();
}

/// Empty if the packets are the same in what must stay; otherwise what differs.
inline std::string difference(const wire::Packet& before, const wire::Packet& after) {
    const auto icrc = [](const wire::Packet& packet) {
        return packet.icrc ? std::string(wire::name(packet.icrc->status)) : std::string();
    };
    if (before.bth != after.bth || before.opcode != after.opcode || before.aeth != after.aeth)
        return "transport header";
    if (before.payload_length != after.payload_length)
        return "payload length";
    if (before.reth.has_value() != after.reth.has_value() ||
        (before.reth && before.reth->dmalen != after.reth->dmalen))
        return "RETH";
    if (before.cm.has_value() != after.cm.has_value() ||
        (before.cm && before.cm->body.index() != after.cm->body.index()))
        return "message of the connection manager";
    if (icrc(before) != icrc(after))
        return "ICRC is " + icrc(after) + ", was " + icrc(before);
    if (text_of(before.malformed) != text_of(after.malformed) ||
        text_of(before.truncated) != text_of(after.truncated))
        return text_of(after.malformed) + text_of(after.truncated) + ", was " +
               text_of(before.malformed) + text_of(before.truncated);
    return before.not_roce == after.not_roce ? "" : "kind";
}

/// Anonymizes the frame, and returns what is wrong with the result; empty: nothing, or left out.
inline std::string problem_with(anonymize::Anonymizer& anonymizer, util::Bytes frame,
                                wire::LinkType link, std::size_t length) {
    const auto result = anonymized(anonymizer, frame, link, length);
    if (!result) {
        const wire::Packet left_out = wire::decode(frame, link, length);
        return left_out.bth && left_out.opcode != nullptr && !left_out.outer && !left_out.lrh &&
                       !left_out.erf
                   ? "a RoCE packet is left out"
                   : "";
    }
    if (result->bytes.size() + result->removed != frame.size())
        return "length";
    const wire::Packet before = wire::decode(frame, link, length);
    // The encapsulation ended before the packet in it, which now ends where its own headers say.
    if (result->removed != 0 && (before.truncated || before.malformed))
        return "";
    const wire::Packet after = wire::decode(result->bytes, result->link, length - result->removed);
    if (places(before, frame, result->removed) != places(after, result->bytes, 0))
        return "places of headers";
    const auto again = anonymized(anonymizer, frame, link, length);
    if (!again || again->bytes != result->bytes)
        return "another result the second time";
    return difference(before, after);
}

}  // namespace anonymize_test
