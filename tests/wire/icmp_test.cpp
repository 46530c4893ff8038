// ICMP errors about packets to UDP port 4791.
#include "wire/icmp.hpp"

#include <gtest/gtest.h>

#include "wire/encapsulations.hpp"
#include "wire/text/summary.hpp"

namespace icmp_test {

using wire::IcmpError;
using wire::LinkType;
using wire_test::from_hex;
using wire_test::joined;
using wire_test::Network;
using wire_test::Octets;

// An error that quotes the first `count` bytes of a SEND's IP packet.
Octets error(Network network, std::string_view header, std::size_t count = 28) {
    const auto frame =
        wire::encode(wire_test::sample_packet(*wire::find_opcode(0x04), network, 64));
    const auto content = joined(header, wire_test::packet_of(frame).first(count));
    return network == Network::Ipv4 ? wire_test::in_ethernet_ipv4(1, content)
                                    : wire_test::in_ethernet_ipv6(58, content);
}

std::string line(const Octets& frame) {
    const auto packet = wire::decode(frame, LinkType::Ethernet);
    EXPECT_FALSE(packet.is_roce());
    return wire::packet_summary(packet, util::TextStyle(), frame);
}

TEST(IcmpError, names_what_was_dropped) {
    EXPECT_EQ(line(error(Network::Ipv4, "0b00 0000 00000000")),
              "ICMP time exceeded, about 192.0.2.2 → 192.0.2.1 UDP 49443 → 4791");
    EXPECT_EQ(line(error(Network::Ipv4, "0301 0000 00000000")),
              "ICMP destination unreachable, about 192.0.2.2 → 192.0.2.1 UDP 49443 → 4791");
    EXPECT_EQ(line(error(Network::Ipv4, "0303 0000 00000000")),
              "ICMP port unreachable, about 192.0.2.2 → 192.0.2.1 UDP 49443 → 4791");
    EXPECT_EQ(line(error(Network::Ipv4, "0304 0000 000005dc")),
              "ICMP packet too big (MTU 1500), about 192.0.2.2 → 192.0.2.1 UDP 49443 → 4791");
}

TEST(IcmpError, names_the_queue_pair_if_it_is_quoted) {
    const std::string text = line(error(Network::Ipv4, "0b00 0000 00000000", 28 + 12));
    EXPECT_NE(text.find("UDP 49443 → 4791 qp 0x"), std::string::npos) << text;
}

TEST(IcmpError, of_version_6) {
    EXPECT_TRUE(line(error(Network::Ipv6, "0300 0000 00000000", 48))
                    .starts_with("ICMPv6 time exceeded, about "));
    EXPECT_TRUE(line(error(Network::Ipv6, "0200 0000 00000500", 48))
                    .starts_with("ICMPv6 packet too big (MTU 1280), about "));
    EXPECT_EQ(line(error(Network::Ipv6, "0104 0000 00000000", 48)),
              "ICMPv6 port unreachable, about 2001:db8::2 → 2001:db8::1 UDP 49443 → 4791");
    EXPECT_TRUE(line(error(Network::Ipv6, "0103 0000 00000000", 48))
                    .starts_with("ICMPv6 destination unreachable, about "));
    EXPECT_EQ(line(error(Network::Ipv6, "0301 0000 00000000", 48)), "ICMPv6");
}

TEST(IcmpError, about_other_packets_is_none) {
    EXPECT_EQ(line(wire_test::in_ethernet_ipv4(1, from_hex("0800 0000 00000000"))), "ICMP");
    EXPECT_EQ(line(error(Network::Ipv4, "0b01 0000 00000000")), "ICMP");
    EXPECT_EQ(line(error(Network::Ipv4, "0b00 0000 00000000", 27)), "ICMP");
    auto other = error(Network::Ipv4, "0b00 0000 00000000");
    wire_test::put16(other, other.size() - 6, 53);
    EXPECT_EQ(line(other), "ICMP");
    // A tunnel's packet, whose addresses the sender of RoCE does not know.
    const auto tunnel = wire_test::in_ipv4(
        4, wire_test::packet_of(
               wire::encode(wire_test::sample_packet(*wire::find_opcode(0x04), Network::Ipv4, 0))));
    EXPECT_EQ(line(wire_test::in_ethernet_ipv4(1, joined("0b00 0000 00000000", tunnel))), "ICMP");
}

TEST(IcmpError, is_only_a_message_of_the_version_s_own_protocol) {
    const auto content = [](Network network, std::string_view header) {
        return joined(header, wire_test::packet_of(wire::encode(
                                  wire_test::sample_packet(*wire::find_opcode(0x04), network, 0))));
    };
    const auto of_version_4 = content(Network::Ipv4, "0b00 0000 00000000");
    const auto of_version_6 = content(Network::Ipv6, "0300 0000 00000000");
    EXPECT_TRUE(line(wire_test::in_ethernet_ipv4(1, of_version_4)).starts_with("ICMP time"));
    EXPECT_TRUE(line(wire_test::in_ethernet_ipv6(58, of_version_6)).starts_with("ICMPv6 time"));
    EXPECT_EQ(line(wire_test::in_ethernet_ipv4(58, of_version_4)), "ICMPv6");
    EXPECT_EQ(line(wire_test::in_ethernet_ipv6(1, of_version_6)), "ICMP");
    EXPECT_EQ(line(wire_test::in_ethernet_ipv4(132, of_version_4)), "IP protocol 132");
    EXPECT_EQ(line(wire_test::in_ethernet_ipv6(132, of_version_6)), "IP protocol 132");
}

}  // namespace icmp_test
