// Encapsulations that are cut, nested too deeply, or do not contain RoCE.
#include <gtest/gtest.h>

#include "wire/outer_packets.hpp"
#include "wire/packet_invariants.hpp"

namespace outer_damage_test {

using namespace outer_test;

// Packets cut by the snap length are never malformed.
TEST(OuterDamage, every_prefix_of_a_captured_packet_is_truncated) {
    for (const Encapsulation& encapsulation : encapsulations())
        for (const Network network : {Network::Ipv4, Network::Ipv6}) {
            const auto frame = encapsulation.wrap(sample(network));
            for (std::size_t size = 0; size < frame.size(); ++size) {
                const wire_test::ExactCopy copy(util::Bytes(frame).first(size));
                const auto packet = wire::decode(copy, LinkType::Ethernet, frame.size());
                SCOPED_TRACE(std::string(encapsulation.name) + " " + std::to_string(size));
                EXPECT_EQ(wire_test::broken_invariant(packet, copy), "");
                EXPECT_TRUE(packet.truncated);
                EXPECT_FALSE(packet.malformed);
                EXPECT_FALSE(packet.not_roce);
            }
        }
}

// A packet that ends too early is sliced after an IP header, and malformed before it. If only a UDP
// port identifies the tunnel, the remaining bytes may also be classified as not RoCE.
TEST(OuterDamage, every_prefix_that_was_all_there_was_is_sliced_or_malformed_or_not_roce) {
    for (const Encapsulation& encapsulation : encapsulations()) {
        const auto frame = encapsulation.wrap(sample());
        const std::size_t bth = frame.size() - sample().size() + 42;
        for (std::size_t size = 0; size < frame.size(); ++size) {
            const wire_test::ExactCopy copy(util::Bytes(frame).first(size));
            const auto packet = wire::decode(copy, LinkType::Ethernet);
            SCOPED_TRACE(std::string(encapsulation.name) + " " + std::to_string(size));
            EXPECT_EQ(wire_test::broken_invariant(packet, copy), "");
            const bool is_cut =
                packet.malformed || (packet.truncated && packet.truncated->is_sliced);
            if (size >= bth || !encapsulation.is_by_port) {
                // The bytes after the MPLS labels may not show whether there is a control word.
                const bool is_ambiguous = encapsulation.name == "mpls pseudowire" && size < bth;
                EXPECT_TRUE(is_cut || is_ambiguous);
            } else {
                EXPECT_TRUE(is_cut || packet.not_roce);
            }
        }
    }
}

TEST(OuterDamage, the_depth_is_bounded) {
    const auto whole = sample();
    Octets packet(whole.begin() + 14, whole.end());
    for (std::size_t depth = 1; depth <= 9; ++depth) {
        packet = in_ipv4(4, packet);
        const auto frame = in_ethernet("0800", packet);
        const auto decoded = decode(frame);
        ASSERT_TRUE(decoded.outer);
        EXPECT_EQ(decoded.outer->count, std::min<std::size_t>(depth, 8));
        EXPECT_EQ(decoded.bth.has_value(), depth <= 8) << depth;
        EXPECT_EQ(decoded.not_roce, depth <= 8 ? std::nullopt : std::optional(NotRoce::TooDeep));
        EXPECT_EQ(wire_test::broken_invariant(decoded, frame), "");
    }
    Octets labels;
    for (int i = 0; i < 300; ++i)
        labels = joined("00011040", labels);
    const auto inner = sample();
    const auto frame = in_ethernet(
        "8847", joined(joined(labels, from_hex("00012140")), util::Bytes(inner).subspan(14)));
    EXPECT_EQ(decode(frame).outer->innermost().detail, 255);
    EXPECT_TRUE(decode(frame).is_complete());
}

// Packets with the T (truncated) bit of ERSPAN II and III.
TEST(OuterDamage, a_mirror_that_cut_the_packet_truncates_it) {
    const auto inner = sample();
    for (std::size_t size = 14; size < inner.size(); ++size)
        for (const auto* header : {"100088be 00000009 10070c64 0000000a",
                                   "100022eb 00000009 20070c64 11223344 00000000"}) {
            const auto frame = in_ethernet_ipv4(47, joined(header, util::Bytes(inner).first(size)));
            const auto packet = decode(frame);
            EXPECT_TRUE(packet.truncated) << size;
            EXPECT_FALSE(packet.malformed) << packet.malformed->text();
            EXPECT_EQ(packet.reth.has_value(), size >= 70);
            EXPECT_EQ(wire_test::broken_invariant(packet, frame), "");
        }
}

TEST(OuterDamage, the_first_fragment_of_a_tunnel_truncates_what_it_carries) {
    const auto inner = sample();
    for (Octets frame :
         {in_ethernet_ipv4(17, in_udp(4789, joined("08000000 00002a00", util::Bytes(inner)))),
          in_ethernet_ipv4(4, util::Bytes(inner).subspan(14))}) {
        frame.resize(frame.size() - 20);
        wire_test::put16(frame, 16, frame.size() - 14);
        frame[20] = std::byte{0x20};  // more fragments
        const auto packet = decode(frame);
        EXPECT_TRUE(packet.reth);
        EXPECT_TRUE(packet.truncated);
        EXPECT_FALSE(packet.malformed);
        frame.resize(14 + 20 + 18);  // inside the first header of the inner packet
        wire_test::put16(frame, 16, frame.size() - 14);
        const auto shorter = decode(frame);
        EXPECT_TRUE(shorter.truncated);
        EXPECT_FALSE(shorter.malformed);
    }
}

TEST(OuterDamage, bytes_behind_the_outer_packet_are_not_of_the_inner_one) {
    const auto inner = sample();
    auto frame = in_ethernet_ipv4(4, util::Bytes(inner).subspan(14, 60));
    frame.resize(frame.size() + 40);
    const auto packet = decode(frame);
    ASSERT_TRUE(packet.truncated);
    EXPECT_TRUE(packet.truncated->is_sliced);
    EXPECT_EQ(packet.truncated->what, "payload");
    EXPECT_EQ(packet.truncated->left, 60U - 20 - 8 - 12 - 16);
}

TEST(OuterDamage, what_is_inside_instead_of_roce_is_named) {
    const auto in_vxlan = [](const Octets& inner) {
        return in_ethernet_ipv4(17, in_udp(4789, joined("08000000 00002a00", inner)));
    };
    const auto tcp = from_hex("b26e 4853 00000001 00000002 5002 0100 00000000");
    EXPECT_EQ(what(in_vxlan(in_ethernet_ipv4(6, tcp))), "VXLAN 42: TCP 45678 → 18515 SYN");
    EXPECT_EQ(what(in_vxlan(in_ethernet("0806", from_hex("0001")))), "VXLAN 42: ARP");
    EXPECT_EQ(what(in_vxlan(in_ethernet("88cc", from_hex("0001")))), "VXLAN 42: EtherType 0x88cc");
    EXPECT_EQ(what(in_vxlan(in_ethernet_ipv4(50, from_hex("00000001 00000001")))),
              "VXLAN 42: ESP, which is encrypted");
    EXPECT_EQ(what(in_vxlan(in_ethernet("0800", from_hex("55")))),
              "VXLAN 42: neither Ethernet nor IP");
    // Without the flag, the header has no VNI.
    EXPECT_EQ(
        what(in_ethernet_ipv4(
            17, in_udp(4789, joined("00000000 00002a00", in_ethernet("0806", from_hex("0001")))))),
        "UDP 53248 → 4789 len 24");
    EXPECT_EQ(what(in_ethernet_ipv4(47, from_hex("0000 88cc 0001"))), "GRE: EtherType 0x88cc");
    EXPECT_EQ(what(in_ethernet_ipv4(47, from_hex("0001 880b 0000"))),
              "an encapsulation that is not decoded");
    EXPECT_EQ(what(in_ethernet_ipv4(47, from_hex("4000 0800 0000"))),
              "an encapsulation that is not decoded");
    EXPECT_EQ(what(in_ethernet_ipv4(47, joined("0000 8949", Octets(60)))),
              "GRE: switch mirror, which is not decoded");
    EXPECT_EQ(what(in_ethernet_ipv4(47, from_hex("1000 88be 00000001 7007 0064 00000000"))),
              "an encapsulation that is not decoded");
    EXPECT_EQ(what(in_ethernet("88e5", from_hex("0001"))), "MACsec, which is not decoded");
    EXPECT_EQ(what(in_ethernet("8864", from_hex("1100 0001 0004 c021 0101"))),
              "PPPoE 1: PPP protocol 0xc021");
    // Another version, a packet of the discovery, and a length below that of the protocol field.
    for (const auto* header : {"2100 0001 0016 0021", "1101 0001 0016 0021", "1100 0001 0001 0021"})
        EXPECT_EQ(what(in_ethernet("8864", joined(header, in_ipv4(17, {})))), "EtherType 0x8864")
            << header;
    EXPECT_EQ(what(in_ethernet("0026", from_hex("424203 0000"))), "LLC");
}

TEST(OuterDamage, other_programs_may_use_a_tunnels_port) {
    for (const unsigned port : {4789U, 6081U, 2152U})
        for (const auto* payload : {"", "00", "ff000000 00000000", "30020000 00000000 00"}) {
            const auto frame =
                in_ethernet_ipv4(17, in_udp(static_cast<std::uint16_t>(port), from_hex(payload)));
            const auto packet = decode(frame);
            EXPECT_TRUE(packet.not_roce == NotRoce::OtherUdpPort ||
                        packet.not_roce == NotRoce::OtherEtherType ||
                        packet.not_roce == NotRoce::Undecodable)
                << port << " " << payload;
            EXPECT_FALSE(packet.malformed);
        }
}

}  // namespace outer_damage_test
