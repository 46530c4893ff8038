// Compares the positions of headers with the headers: the bytes at each position must give the same
// header again.
#pragma once

#include <optional>

#include "wire/each_header.hpp"
#include "wire/packet.hpp"

namespace wire_test {

class TrailMatch {
  public:
    TrailMatch(const wire::Packet& packet, util::Bytes frame) : packet_(packet), frame_(frame) {}

    bool all() const {
        using wire::Header;
        const wire::Packet& p = packet_;
        return link() && has(Header::Outer) == p.outer.has_value() && is(Header::Lrh, p.lrh) &&
               is(Header::Rwh, p.rwh) && is(Header::Ipv4, p.ipv4) && is(Header::Ipv6, p.ipv6) &&
               is(Header::Grh, p.grh) && is(Header::Udp, p.udp) && is(Header::Bth, p.bth) &&
               extensions() && is(Header::Mad, p.mad) &&
               size(Header::Cm) == (p.cm ? wire::Mad::data_size : 0) && is(Header::Smp, p.smp) &&
               vcrc() && payload() && icrc();
    }

  private:
    bool extensions() const {
        return wire::for_each_extension_header(
            packet_, [&](wire::HeaderMask bit, std::string_view, const auto& header) {
                return is(wire::extension_header(bit), header);
            });
    }

    std::size_t size(wire::Header header) const { return packet_.trail.find(header).size(); }
    bool has(wire::Header header) const { return packet_.trail.has(header); }
    util::Bytes at(wire::Header header) const { return packet_.trail.find(header).of(frame_); }

    template <typename T>
    bool is(wire::Header header, const std::optional<T>& parsed) const {
        if (!parsed || !has(header))
            return parsed.has_value() == has(header);
        return at(header).size() >= T::size &&
               wire::parse<T>(at(header).template first<T::size>()) == *parsed;
    }

    // A packet keeps the link headers before an encapsulation if none follow it.
    bool link() const {
        if (packet_.outer && !has(wire::Header::Ethernet))
            return true;
        return is(wire::Header::Ethernet, packet_.ethernet) && is(wire::Header::Erf, packet_.erf) &&
               cooked() && tags();
    }

    bool cooked() const {
        const auto bytes = at(wire::Header::Sll);
        if (!packet_.sll || packet_.outer)
            return bytes.empty();
        return bytes.size() == wire::LinuxCooked::size
                   ? wire::LinuxCooked::parse(bytes.first<wire::LinuxCooked::size>()) == packet_.sll
                   : wire::LinuxCooked::parse2(bytes.first<wire::LinuxCooked::size2>()) ==
                         packet_.sll;
    }

    bool tags() const {
        if (has(wire::Header::Llc))  // tags may follow it
            return true;
        const wire::Vlans& vlans = packet_.vlans;
        const auto bytes = at(wire::Header::Vlan);
        if (bytes.size() != wire::Vlan::size * (std::size_t{vlans.count} + vlans.skipped))
            return false;
        const auto tag = [](util::Bytes at) { return wire::parse<wire::Vlan>(at.first<4>()); };
        return vlans.empty() || (tag(bytes.last(4)) == vlans.tags[vlans.count - 1U] &&
                                 (vlans.count == 1 || tag(bytes) == vlans.tags[0]));
    }

    bool payload() const {
        const std::size_t length = size(wire::Header::Mad) + size(wire::Header::Cm) +
                                   size(wire::Header::Smp) + size(wire::Header::Payload);
        const auto bytes = at(packet_.mad ? wire::Header::Mad : wire::Header::Payload);
        return length == (packet_.icrc ? packet_.payload_length : 0) &&
               (packet_.payload.empty() ? bytes.empty() : bytes.data() == packet_.payload.data());
    }

    bool icrc() const {
        const auto bytes = at(wire::Header::Icrc);
        // Behind a sliced packet, the frame may go on.
        if (!packet_.icrc || !packet_.icrc->value)
            return bytes.size() < wire::icrc_size ||
                   (packet_.truncated && packet_.truncated->is_sliced);
        return size(wire::Header::Padding) <= packet_.bth->padcnt &&
               bytes.size() == wire::icrc_size &&
               util::be32<0>(bytes.first<wire::icrc_size>()) == packet_.icrc->value;
    }

    bool vcrc() const {
        const auto bytes = at(wire::Header::Vcrc);
        return packet_.vcrc
                   ? bytes.size() == wire::vcrc_size &&
                         util::be16<0>(bytes.first<wire::vcrc_size>()) == packet_.vcrc->value
                   : bytes.empty();
    }

    const wire::Packet& packet_;
    util::Bytes frame_;
};

/// Returns whether each header of the packet is where its trail says, and the trail has no other.
inline bool match(const wire::Packet& packet, util::Bytes frame) {
    return TrailMatch(packet, frame).all();
}

}  // namespace wire_test
