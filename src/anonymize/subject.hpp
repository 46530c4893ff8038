// A packet whose bytes are being replaced: the steps that the folder's sources share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "anonymize/frame.hpp"
#include "anonymize/pseudonyms.hpp"
#include "util/cursor.hpp"
#include "wire/layout.hpp"
#include "wire/packet.hpp"

namespace anonymize {

using MutableBytes = std::span<std::byte>;

inline void zero(MutableBytes bytes) {
    std::ranges::fill(bytes, std::byte{});
}

inline MutableBytes from(MutableBytes bytes, std::size_t offset) {
    return bytes.subspan(std::min(offset, bytes.size()));
}

struct Subject {
    const wire::Packet& packet;  ///< decoded from `before`
    util::Bytes before;
    MutableBytes frame;  ///< a copy of `before`
    Pseudonyms& pseudonyms;
    Data data{};

    /// The captured bytes of a header.
    MutableBytes part(wire::Header header) const { return packet.trail.find(header).of(frame); }

    /// Calls change(header), and writes the result back if the header was captured in full. Bits
    /// beside its fields stay.
    template <typename Header>
    void change(auto change) const {
        const MutableBytes bytes = part(Header::Fields::header);
        if (bytes.size() < Header::size)
            return;
        auto header = wire::parse<Header>(bytes.template first<Header::size>());
        change(header);
        Header::Fields::write(header, bytes.template first<Header::size>());
    }

    /// Replaces the address at `offset`; nothing if `bytes` ends before its end.
    template <typename Address>
    void address(MutableBytes bytes, std::size_t offset) const {
        const MutableBytes rest = from(bytes, offset);
        if (rest.size() >= Address::size)
            pseudonyms.of(Address::template at<0>(util::Bytes(rest).first<Address::size>()))
                .template put<0>(rest.first<Address::size>());
    }
};

/// Everything from the BTH to the padding (transport.cpp).
void replace_transport(const Subject& subject);

/// Writes checksums and the ICRC, after all other bytes (seal.cpp): those that were right become
/// right, a checksum of 0 stays 0, and others stay wrong.
void seal(const Subject& subject);
/// The same for the checksum of an ICMP message.
void seal_icmp(const Subject& subject);

}  // namespace anonymize
