// The headers of a packet by name, to show bytes beside fields.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "util/cursor.hpp"
#include "wire/packet.hpp"

namespace wire {

/// The key of the header's JSON object (filter/json.hpp) if it has one, static text:
///
///   outer sll erf eth vlan llc macc pause pfc lrh rwh ip ipv6 grh udp
///   bth rdeth dceth deth xrceth feth reth atomiceth aeth atomicacketh immdt ieth reserved
///   mad cm smp payload pad icrc tcp data rest vcrc trailer
std::string_view name(Header header);
/// "BTH: base transport header", "Payload", ...: static text.
std::string_view title(Header header);

struct HeaderSpan {
    Header header{};
    std::size_t offset = 0;  ///< bytes from the start of the frame
    std::size_t length = 0;  ///< captured bytes, at least one

    friend bool operator==(const HeaderSpan&, const HeaderSpan&) = default;
};

/// The packet's trail with one span for each VLAN tag, and TCP. Ascending and without gaps: together
/// the spans cover all of `frame`, from which `packet` was decoded. What the snap length cut has its
/// captured bytes; a cut header belongs to the rest.
std::vector<HeaderSpan> header_spans(const Packet& packet, util::Bytes frame);

}  // namespace wire
