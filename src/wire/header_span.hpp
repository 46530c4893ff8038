// Where each header of a decoded packet lies in its frame, for whoever shows bytes beside fields.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "util/cursor.hpp"
#include "wire/packet.hpp"

namespace wire {

/// `name`, static text, is the key of the JSON object of filter/json.hpp where that has one:
///
///   eth vlan sll          a tag each, outermost first
///   ip ipv6 grh udp       with IPv4's options and IPv6's extension headers
///   bth rdeth dceth deth xrceth feth reth atomiceth aeth atomicacketh immdt ieth
///   reserved              the 16 bytes of a CNP behind its BTH
///   mad cm                a management datagram's common header; the CM's message behind it
///   payload pad icrc      pad: to a multiple of four bytes, as the BTH counts it
///   tcp data              with TCP's options
///   rest                  not decoded: not RoCE, malformed, or a header that the snap length cut
///   trailer               behind the packet's end by its length fields: Ethernet's padding
struct HeaderSpan {
    std::string_view name;
    std::size_t offset = 0;  ///< bytes from the frame's first
    std::size_t length = 0;  ///< bytes that were captured, at least one

    friend bool operator==(const HeaderSpan&, const HeaderSpan&) = default;
};

/// Ascending, without gaps: together they are all of `frame`, which is what `packet` was decoded
/// from. Of what the snap length cut there is what was captured.
std::vector<HeaderSpan> header_spans(const Packet& packet, util::Bytes frame);

}  // namespace wire
