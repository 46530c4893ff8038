// The position of each header of a decoded packet in its frame, to show bytes beside fields.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "util/cursor.hpp"
#include "wire/packet.hpp"

namespace wire {

/// `name`, static text, is the key of the JSON object of filter/json.hpp if it has one:
///
///   eth vlan sll          one per tag, outermost first
///   ip ipv6 grh udp       with IPv4's options and IPv6's extension headers
///   bth rdeth dceth deth xrceth feth reth atomiceth aeth atomicacketh immdt ieth
///   reserved              the 16 bytes of a CNP after its BTH
///   mad cm                common header of a management datagram; CM message after it
///   payload pad icrc      pad: to a multiple of four bytes, as given in the BTH
///   tcp data              with TCP's options
///   rest                  not decoded: not RoCE, malformed, or a header cut by the snap length
///   trailer               after the packet's end by its length fields: Ethernet padding
struct HeaderSpan {
    std::string_view name;
    std::size_t offset = 0;  ///< bytes from the start of the frame
    std::size_t length = 0;  ///< captured bytes, at least one

    friend bool operator==(const HeaderSpan&, const HeaderSpan&) = default;
};

/// Ascending and without gaps: together they cover all of `frame`, from which `packet` was decoded.
/// A header cut by the snap length has only its captured bytes.
std::vector<HeaderSpan> header_spans(const Packet& packet, util::Bytes frame);

}  // namespace wire
