// Link layers: Ethernet with VLAN tags, and Linux "cooked" captures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "util/cursor.hpp"
#include "wire/address.hpp"
#include "wire/layout.hpp"

namespace wire {

/// First header of a frame. capture/ translates the numbers of pcap files.
enum class LinkType : std::uint8_t {
    Ethernet,
    LinuxCooked,   ///< LINKTYPE_LINUX_SLL: the "any" device of older libpcap
    LinuxCooked2,  ///< LINKTYPE_LINUX_SLL2
    RawIp,         ///< begins with an IPv4 or IPv6 header
    Infiniband,    ///< begins with an LRH
    Erf,           ///< begins with a record header of the Extensible Record Format
};

namespace ether_type {
inline constexpr std::uint16_t ipv4 = 0x0800;
inline constexpr std::uint16_t arp = 0x0806;
inline constexpr std::uint16_t vlan = 0x8100;  ///< IEEE 802.1Q
inline constexpr std::uint16_t ipv6 = 0x86dd;
inline constexpr std::uint16_t service_vlan = 0x88a8;       ///< IEEE 802.1ad, the outer of two tags
inline constexpr std::uint16_t old_service_vlan = 0x9100;   ///< before 802.1ad
inline constexpr std::uint16_t old_service_vlan2 = 0x9200;  ///< the same
inline constexpr std::uint16_t mac_control = 0x8808;
inline constexpr std::uint16_t mpls = 0x8847;
inline constexpr std::uint16_t mpls_multicast = 0x8848;
inline constexpr std::uint16_t pppoe_session = 0x8864;
inline constexpr std::uint16_t roce_v1 = 0x8915;
}  // namespace ether_type

constexpr bool is_vlan(std::uint16_t type) {
    return type == ether_type::vlan || type == ether_type::service_vlan ||
           type == ether_type::old_service_vlan || type == ether_type::old_service_vlan2;
}
constexpr bool is_mpls(std::uint16_t type) {
    return type == ether_type::mpls || type == ether_type::mpls_multicast;
}
/// Up to this value, the EtherType field is the length of an LLC frame (IEEE 802.3, 3.2.6).
inline constexpr std::uint16_t max_length_field = 1500;

/// The name of an EtherType whose frames may carry an Ethernet frame or IP packet that is not
/// decoded: "MACsec", "TRILL", ...; empty for others.
std::string_view undecoded_encapsulation(std::uint16_t type);

struct Ethernet {
    static constexpr std::size_t size = 14;

    MacAddress dst;
    MacAddress src;
    std::uint16_t type = 0;  ///< as on the wire: the TPID if a tag follows

    using Fields = Layout<Header::Ethernet, At<&Ethernet::dst, 0, 48>, At<&Ethernet::src, 48, 48>,
                          At<&Ethernet::type, 96, 16>>;
    friend bool operator==(const Ethernet&, const Ethernet&) = default;
};

/// The four bytes after a TPID.
struct Vlan {
    static constexpr std::size_t size = 4;

    std::uint8_t priority = 0;  ///< PCP, 0..7
    bool dei = false;           ///< drop eligible
    std::uint16_t id = 0;       ///< 0..4095; 0 is a priority tag
    std::uint16_t type = 0;     ///< EtherType of what follows

    using Fields = Layout<Header::Vlan, At<&Vlan::priority, 0, 3>, At<&Vlan::dei, 3, 1>,
                          At<&Vlan::id, 4, 12>, At<&Vlan::type, 16, 16>>;
    friend bool operator==(const Vlan&, const Vlan&) = default;
};

/// Tags, outermost first; usable in a range-based for. With more than `capacity` tags, the last one
/// here is the innermost.
struct Vlans {
    static constexpr std::size_t capacity = 4;

    std::array<Vlan, capacity> tags{};
    std::uint8_t count = 0;
    std::uint16_t skipped = 0;  ///< tags before the last one that are not stored

    const Vlan* begin() const { return tags.data(); }
    const Vlan* end() const { return tags.data() + count; }
    bool empty() const { return count == 0; }
    void push(const Vlan& tag) {
        if (count < capacity)
            ++count;
        else
            ++skipped;
        tags[count - 1U] = tag;
    }
    friend bool operator==(const Vlans&, const Vlans&) = default;
};

using CookedAddress = AddressBytes<8, struct CookedTag>;

/// Both versions of the cooked header (https://www.tcpdump.org/linktypes.html).
struct LinuxCooked {
    static constexpr std::size_t size = 16;
    static constexpr std::size_t size2 = 20;
    static constexpr std::uint16_t llc = 0x0004;  ///< as protocol: an LLC frame follows

    std::uint8_t version = 1;
    std::uint16_t protocol = 0;  ///< EtherType
    std::uint32_t ifindex = 0;   ///< version 2 only
    std::uint16_t arphrd = 0;
    std::uint8_t packet_type = 0;  ///< 0 to us, 1 broadcast, 2 multicast, 3 to others, 4 sent by us
    std::uint8_t address_length = 0;
    CookedAddress address;  ///< the sender's link-layer address, the first address_length bytes

    static LinuxCooked parse(util::FixedBytes<size> bytes);
    static LinuxCooked parse2(util::FixedBytes<size2> bytes);
    friend bool operator==(const LinuxCooked&, const LinuxCooked&) = default;
};

}  // namespace wire
