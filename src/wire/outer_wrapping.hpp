// Turns decoded headers of an encapsulation into an outer layer of the packet, for
// decode_outer_link.cpp and decode_outer_tunnel.cpp only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/decode_outer.hpp"

namespace wire {

inline constexpr Inner inner_missing{};
inline constexpr Inner inner_ethernet{.as = Inner::As::Ethernet};
inline constexpr Inner inner_ip{.as = Inner::As::Ip};

constexpr Inner inner_not_roce(NotRoce reason) {
    return {.as = Inner::As::NotRoce, .reason = reason};
}
constexpr Inner inner_of_type(std::uint16_t type) {
    return {.as = Inner::As::EtherType, .type = type};
}

/// Base of the classes that decode the headers of encapsulations.
class Wrapping {
  public:
    Wrapping(FrameReader& reader, const OuterPlace& place, Packet& packet)
        : reader_(reader), place_(place), packet_(packet) {}

  protected:
    /// Like end_after(), but ignores a length larger than the rest of the frame.
    void shorten(std::size_t length) {
        if (length < reader_.left())
            reader_.end_after(length);
    }

    /// Turns the headers decoded so far into the outer layer `layer` of the packet. Returns `inner`,
    /// or TooDeep if the packet has too many outer layers.
    Inner wrapped(OuterLayer layer, Inner inner) {
        Outer& outer = packet_.outer ? *packet_.outer : packet_.outer.emplace();
        if (outer.count == Outer::capacity)
            return inner_not_roce(NotRoce::TooDeep);
        layer.addresses = addresses();
        outer.layers[outer.count++] = layer;
        outer.carries_ethernet = inner.as == Inner::As::Ethernet;
        outer.size = static_cast<std::size_t>(reader_.rest().data() - place_.frame.data());
        packet_.ipv4.reset();
        packet_.ipv6.reset();
        packet_.udp.reset();
        packet_.network_at = packet_.network_end = 0;
        return inner;
    }

    FrameReader& reader_;

  private:
    util::Bytes addresses() const {
        constexpr std::size_t of_ipv4 = 12;
        constexpr std::size_t of_ipv6 = 8;
        if (packet_.ipv4)
            return place_.network.subspan(of_ipv4, 2 * Ipv4Address::size);
        if (packet_.ipv6)
            return place_.network.subspan(of_ipv6, 2 * Ipv6Address::size);
        return {};
    }

    const OuterPlace& place_;
    Packet& packet_;
};

}  // namespace wire
