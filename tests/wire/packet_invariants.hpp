// Invariants of every decoded packet, for any input bytes.
#pragma once

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "wire/header_span.hpp"
#include "wire/packet.hpp"
#include "wire/trail_match.hpp"

namespace wire_test {

inline bool is_inside(util::Bytes part, util::Bytes whole) {
    return part.empty() || (part.data() >= whole.data() &&
                            part.data() + part.size() <= whole.data() + whole.size());
}

/// Returns whether all spans of the message are within `data`.
inline bool is_inside(const wire::Cm& cm, util::Bytes data) {
    const auto of_message = [&](const auto& message) {
        using Message = std::remove_cvref_t<decltype(message)>;
        if constexpr (std::is_same_v<Message, wire::CmRej>)
            if (!is_inside(message.ari, data))
                return false;
        if constexpr (!std::is_same_v<Message, std::monostate>)
            return is_inside(message.private_data, data);
        return true;
    };
    return std::visit(of_message, cm.body);
}

/// Returns whether the spans are in ascending order, not empty, and cover all of `frame`.
inline bool cover(const std::vector<wire::HeaderSpan>& spans, util::Bytes frame) {
    std::size_t at = 0;
    for (const wire::HeaderSpan& span : spans) {
        if (span.offset != at || span.length == 0 || wire::name(span.header).empty())
            return false;
        at += span.length;
    }
    return at == frame.size();
}

/// Returns the text of the first invariant that `packet` violates; empty if it satisfies all.
/// `frame`: the bytes that it was decoded from.
inline std::string_view broken_invariant(const wire::Packet& packet, util::Bytes frame) {
    const bool is_complete = packet.is_complete();
    const auto spans = wire::header_spans(packet, frame);
    const int networks = packet.ipv4.has_value() + packet.ipv6.has_value() + packet.grh.has_value();
    const std::pair<bool, std::string_view> invariants[] = {
        {!is_complete || packet.icrc, "a complete packet has an ICRC"},
        {!is_complete || packet.payload.size() == packet.payload_length,
         "a complete packet has its whole payload"},
        {is_complete || packet.truncated || packet.malformed || packet.not_roce,
         "an incomplete packet says why"},
        {!packet.not_roce || !(packet.malformed || packet.truncated || packet.bth),
         "what is no RoCE is not judged"},
        {networks == 1 || (networks == 0 && (!packet.bth || packet.lrh)),
         "one network header or an LRH precedes the BTH"},
        {!packet.icrc || packet.bth, "an ICRC comes behind a BTH"},
        {!packet.icrc || packet.icrc->computed.has_value() ==
                             (packet.icrc->status != wire::IcrcStatus::Unchecked),
         "an ICRC is computed where it is judged"},
        {!packet.icrc ||
             packet.icrc->reason.empty() == (packet.icrc->status != wire::IcrcStatus::Unchecked),
         "an unchecked ICRC says why"},
        {!packet.opcode || packet.bth, "an opcode comes from a BTH"},
        {!packet.smp || (packet.mad && packet.lrh), "an SMP is a MAD of native InfiniBand"},
        {!packet.vcrc || packet.lrh, "a VCRC comes behind an LRH"},
        {!packet.cm || packet.mad, "a message of the connection manager comes in a MAD"},
        {is_inside(packet.payload, frame), "the payload lies in the frame"},
        {!packet.cm || is_inside(*packet.cm, packet.payload),
         "the connection manager's data lie in the payload"},
        {cover(spans, frame), "the headers' places cover the frame"},
        {match(packet, frame), "the trail has the place of each header, and of no other"},
        {!packet.outer || (packet.outer->count > 0 &&
                           std::ranges::all_of(*packet.outer,
                                               [&](const wire::OuterLayer& layer) {
                                                   return is_inside(layer.addresses, frame) &&
                                                          !layer.text().empty();
                                               })),
         "an encapsulation lies in the frame"},
        {!packet.mac_control || packet.not_roce == wire::NotRoce::MacControl,
         "a MAC control frame is no RoCE"},
        {!packet.malformed || !packet.malformed->text().empty(), "a fault has a sentence"},
        {!packet.truncated || packet.truncated->text().starts_with("truncated "),
         "a cut packet says what cut it"},
    };
    for (const auto& [holds, words] : invariants)
        if (!holds)
            return words;
    return {};
}

}  // namespace wire_test
