// Every encapsulation that the decoder supports, for any Ethernet frame that contains an IP packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/ip.hpp"
#include "wire/packet.hpp"
#include "wire/sample_frames.hpp"

namespace wire_test {

using Octets = std::vector<std::byte>;

inline Octets joined(Octets head, util::Bytes tail) {
    head.insert(head.end(), tail.begin(), tail.end());
    return head;
}
inline Octets joined(std::string_view head, util::Bytes tail) {
    return joined(from_hex(head), tail);
}

inline void put16(Octets& bytes, std::size_t at, std::size_t value) {
    bytes[at] = static_cast<std::byte>(value >> 8);
    bytes[at + 1] = static_cast<std::byte>(value);
}

/// `type`: the EtherType, four hexadecimal digits.
inline Octets in_ethernet(const std::string& type, util::Bytes payload) {
    return joined("02aa00000001 02aa00000002" + type, payload);
}
/// From 10.9.0.2 to 10.9.0.1.
inline Octets in_ipv4(std::uint8_t protocol, util::Bytes payload) {
    Octets header = from_hex("45000000 00010000 40000000 0a090002 0a090001");
    put16(header, 2, header.size() + payload.size());
    header[9] = std::byte{protocol};
    put16(header, 10, wire::internet_checksum(wire::ones_sum(header)));
    return joined(header, payload);
}
/// From fd00::2 to fd00::1.
inline Octets in_ipv6(std::uint8_t next, util::Bytes payload) {
    Octets header = from_hex(
        "60000000 00000040 fd000000000000000000000000000002"
        "fd000000000000000000000000000001");
    put16(header, 4, payload.size());
    header[6] = std::byte{next};
    return joined(header, payload);
}
inline Octets in_udp(std::uint16_t port, util::Bytes payload) {
    Octets header = from_hex("d000 0000 0000 0000");
    put16(header, 2, port);
    put16(header, 4, header.size() + payload.size());
    return joined(header, payload);
}

inline Octets in_ethernet_ipv4(std::uint8_t protocol, util::Bytes payload) {
    return in_ethernet("0800", in_ipv4(protocol, payload));
}
inline Octets in_ethernet_ipv6(std::uint8_t next, util::Bytes payload) {
    return in_ethernet("86dd", in_ipv6(next, payload));
}

struct Encapsulation {
    std::string_view name;
    /// "VXLAN 42"; empty if the decoder treats the encapsulation as part of the packet itself.
    std::string_view text;
    bool carries_ethernet = false;
    /// Only the UDP port identifies the encapsulation.
    bool is_by_port = false;
    std::function<Octets(util::Bytes frame)> wrap{};
};

inline util::Bytes packet_of(util::Bytes frame) {
    return frame.subspan(wire::Ethernet::size);
}
inline bool is_ipv4(util::Bytes frame) {
    return packet_of(frame).front() >> 4 == std::byte{4};
}
inline std::string type_of(util::Bytes frame) {
    return is_ipv4(frame) ? "0800" : "86dd";
}

inline Octets in_gtp(std::string_view flags, std::string_view optional, util::Bytes packet) {
    const Octets content = joined(optional, packet);
    Octets header = from_hex(std::string(flags) + "ff 0000 0badcafe");
    put16(header, 2, content.size());
    return joined(header, content);
}

inline std::vector<Encapsulation> encapsulations() {
    using util::Bytes;
    constexpr std::uint8_t gre = 47;
    constexpr std::uint8_t udp = 17;
    const auto gre_over_ipv4 = [](std::string_view header, Bytes payload) {
        return in_ethernet_ipv4(gre, joined(header, payload));
    };
    return {
        {"vxlan", "VXLAN 42", true, true,
         [](Bytes frame) {
             return in_ethernet_ipv4(udp, in_udp(4789, joined("08000000 00002a00", frame)));
         }},
        {"vxlan over ipv6", "VXLAN 16777215", true, true,
         [](Bytes frame) {
             return in_ethernet_ipv6(udp, in_udp(4789, joined("08000000 ffffff00", frame)));
         }},
        {"geneve", "GENEVE 43", true, true,
         [](Bytes frame) {
             return in_ethernet_ipv4(udp, in_udp(6081, joined("00006558 00002b00", frame)));
         }},
        {"geneve with options", "GENEVE 44", true, true,
         [](Bytes frame) {
             return in_ethernet_ipv4(
                 udp,
                 in_udp(6081, joined("03006558 00002c00 0102 80 02 0000000a 0000000b", frame)));
         }},
        {"geneve of ip", "GENEVE 45", false, true,
         [](Bytes frame) {
             return in_ethernet_ipv4(
                 udp, in_udp(6081, joined("0000" + type_of(frame) + "00002d00", packet_of(frame))));
         }},
        {"gtp", "GTP-U 195939070", false, true,
         [](Bytes frame) {
             return in_ethernet_ipv4(udp, in_udp(2152, in_gtp("30", "", packet_of(frame))));
         }},
        {"gtp with sequence number", "GTP-U 195939070", false, true,
         [](Bytes frame) {
             return in_ethernet_ipv4(udp,
                                     in_udp(2152, in_gtp("32", "0007 00 00", packet_of(frame))));
         }},
        {"gtp with extensions", "GTP-U 195939070", false, true,
         [](Bytes frame) {  // two PDU session containers
             return in_ethernet_ipv4(
                 udp,
                 in_udp(2152, in_gtp("34", "0000 00 85 01 1009 85 01 1009 00", packet_of(frame))));
         }},
        {"gre", "GRE", false, false,
         [=](Bytes frame) { return gre_over_ipv4("0000" + type_of(frame), packet_of(frame)); }},
        {"gre with checksum, key and sequence number", "GRE key 77", false, false,
         [=](Bytes frame) {
             return gre_over_ipv4("b000" + type_of(frame) + "abcd0000 0000004d 00000005",
                                  packet_of(frame));
         }},
        {"gre over ipv6", "GRE key 78", false, false,
         [](Bytes frame) {
             return in_ethernet_ipv6(
                 gre, joined("2000" + type_of(frame) + "0000004e", packet_of(frame)));
         }},
        {"gre of ethernet", "GRE", true, false,
         [=](Bytes frame) { return gre_over_ipv4("00006558", frame); }},
        {"gre of ethernet with a key", "GRE key 79", true, false,
         [=](Bytes frame) { return gre_over_ipv4("20006558 0000004f", frame); }},
        {"nvgre", "NVGRE 66051", true, false,
         [=](Bytes frame) { return gre_over_ipv4("20006558 01020304", frame); }},
        {"erspan I", "ERSPAN", true, false,
         [=](Bytes frame) { return gre_over_ipv4("000088be", frame); }},
        {"erspan II", "ERSPAN 100", true, false,
         [=](Bytes frame) { return gre_over_ipv4("100088be 00000009 10070864 0000000a", frame); }},
        {"erspan III", "ERSPAN 101", true, false,
         [=](Bytes frame) {
             return gre_over_ipv4("100022eb 00000009 20070865 11223344 00000000", frame);
         }},
        {"erspan III with a platform header", "ERSPAN 102", true, false,
         [=](Bytes frame) {
             return gre_over_ipv4("100022eb 00000009 20070866 11223344 00000001 1400000000000001",
                                  frame);
         }},
        {"gre of a switch's mirror", "GRE", true, false,
         [=](Bytes frame) {
             return gre_over_ipv4("00008949 0102030405060708 0000000000000000 000000000001", frame);
         }},
        {"ip in ip", "IP in IP", false, false,
         [](Bytes frame) { return in_ethernet_ipv4(is_ipv4(frame) ? 4 : 41, packet_of(frame)); }},
        {"ip in ipv6", "IP in IP", false, false,
         [](Bytes frame) { return in_ethernet_ipv6(is_ipv4(frame) ? 4 : 41, packet_of(frame)); }},
        {"mpls", "MPLS 17", false, false,
         [](Bytes frame) { return in_ethernet("8847", joined("00011140", packet_of(frame))); }},
        {"mpls with four labels", "MPLS 20", false, false,
         [](Bytes frame) {
             return in_ethernet("8847",
                                joined("00011040 00012040 00013040 00014140", packet_of(frame)));
         }},
        {"mpls of multicast", "MPLS 18", false, false,
         [](Bytes frame) { return in_ethernet("8848", joined("00012140", packet_of(frame))); }},
        {"mpls pseudowire with a control word", "MPLS 19", true, false,
         [](Bytes frame) { return in_ethernet("8847", joined("00013140 00000000", frame)); }},
        {"mpls pseudowire", "MPLS 21", true, false,
         [](Bytes frame) { return in_ethernet("8847", joined("00015140", frame)); }},
        {"pppoe", "PPPoE 291", false, false,
         [](Bytes frame) {
             Octets header = from_hex("1100 0123 0000");
             put16(header, 4, packet_of(frame).size() + 2);
             return in_ethernet("8864", joined(header, joined(is_ipv4(frame) ? "0021" : "0057",
                                                              packet_of(frame))));
         }},
        {"vlan tags", "", false, false,
         [](Bytes frame) {
             return in_ethernet(
                 "9100", joined("0001 9200 0002 88a8 0003 8100 0004 8100 0005" + type_of(frame),
                                packet_of(frame)));
         }},
        {"llc and snap", "", false, false,
         [](Bytes frame) {
             const Octets content = joined("aaaa03 000000" + type_of(frame), packet_of(frame));
             Octets header = from_hex("02aa00000001 02aa00000002 0000");
             put16(header, 12, content.size());
             return joined(header, content);
         }},
    };
}

}  // namespace wire_test
