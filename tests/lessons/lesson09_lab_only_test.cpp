// Forged packets stay in the lab: which addresses belong to the lab, and which are refused.
#include <gtest/gtest.h>

#include "examples/09_forged_packets/lab_only.hpp"
#include "support/error_text.hpp"
#include "wire/encode.hpp"

namespace lesson09_lab_only_test {

util::Address address(const std::string& host) {
    return util::Address::parse(host).value();
}

TEST(LabOnly, accepts_the_labs_two_prefixes_and_nothing_beside_them) {
    for (const char* inside : {"192.0.2.0", "192.0.2.1", "192.0.2.255", "2001:db8::", "2001:db8::1",
                               "2001:db8::ffff:ffff:ffff:ffff", "::ffff:192.0.2.1"})
        EXPECT_TRUE(lesson09::is_in_lab(address(inside))) << inside;
    for (const char* outside :
         {"192.0.1.255", "192.0.3.0", "198.51.100.1", "203.0.113.1", "127.0.0.1", "10.0.2.15",
          "0.0.0.0", "255.255.255.255", "::", "::1", "2001:db8:0:1::1", "2001:db9::1", "fe80::1",
          "::ffff:198.51.100.1", "64:ff9b::192.0.2.1", "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff"})
        EXPECT_FALSE(lesson09::is_in_lab(address(outside))) << outside;
    EXPECT_FALSE(lesson09::is_in_lab(util::Address()));
}

TEST(LabOnly, says_which_address_it_refuses) {
    EXPECT_NO_THROW(lesson09::require_lab(address("192.0.2.1")));
    EXPECT_EQ(support::error_text([] { lesson09::require_lab(address("198.51.100.1")); }),
              "198.51.100.1 is not one of the lab's addresses: forged packets stay inside the lab, "
              "192.0.2.0/24 and 2001:db8::/64. Run this lesson with lab/lab capture.");
}

wire::Packet packet_between(const wire::Ipv4Address& source, const wire::Ipv4Address& destination) {
    wire::Packet packet;
    packet.ethernet.emplace();
    packet.ipv4.emplace();
    packet.ipv4->src = source;
    packet.ipv4->dst = destination;
    packet.udp.emplace();
    packet.bth.emplace();
    packet.bth->opcode = 0x11;
    packet.aeth.emplace();
    return packet;
}

constexpr wire::Ipv4Address inside{{192, 0, 2, 1}};
constexpr wire::Ipv4Address outside{{192, 0, 3, 1}};

std::string refusal_of(const wire::Packet& packet) {
    const auto frame = wire::encode(packet);
    return support::error_text(
        [&] { lesson09::require_lab(wire::decode(frame, wire::LinkType::Ethernet)); });
}

TEST(LabOnly, looks_at_both_addresses_of_a_packet) {
    EXPECT_EQ(refusal_of(packet_between(inside, inside)), "");
    EXPECT_TRUE(refusal_of(packet_between(inside, outside))
                    .starts_with("a packet from 192.0.2.1 to 192.0.3.1 is not between"));
    EXPECT_TRUE(refusal_of(packet_between(outside, inside))
                    .starts_with("a packet from 192.0.3.1 to 192.0.2.1 is not between"));
}

TEST(LabOnly, looks_at_both_addresses_of_an_ipv6_packet) {
    wire::Packet packet = packet_between(inside, inside);
    packet.ipv4.reset();
    packet.ipv6.emplace();
    packet.ipv6->src.bytes = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
    packet.ipv6->dst.bytes = packet.ipv6->src.bytes;
    EXPECT_EQ(refusal_of(packet), "");
    packet.ipv6->dst.bytes[7] = 1;
    EXPECT_NE(refusal_of(packet), "");
    std::swap(packet.ipv6->src, packet.ipv6->dst);
    EXPECT_NE(refusal_of(packet), "");
}

TEST(LabOnly, takes_nothing_but_untagged_roce_v2) {
    wire::Packet tagged = packet_between(inside, inside);
    tagged.vlans.count = 1;
    EXPECT_NE(refusal_of(tagged), "");

    wire::Packet version_1 = packet_between(inside, inside);
    version_1.ipv4.reset();
    version_1.grh.emplace();
    EXPECT_NE(refusal_of(version_1), "");

    wire::Packet other_port = packet_between(inside, inside);
    other_port.udp->dst_port = 53;
    EXPECT_NE(refusal_of(other_port), "");

    EXPECT_THROW(lesson09::require_lab(wire::decode({}, wire::LinkType::Ethernet)), util::Error);
}

}  // namespace lesson09_lab_only_test
