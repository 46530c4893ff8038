// Packets in tunnels, mirrors and labels.
#include <algorithm>
#include <deque>
#include <utility>

#include <gtest/gtest.h>

#include "support/allocation_count.hpp"
#include "wire/encapsulations.hpp"
#include "wire/packet_invariants.hpp"
#include "wire/text/other.hpp"
#include "wire/text/summary.hpp"

namespace outer_decode_test {

using wire::LinkType;
using wire::NotRoce;
using wire::OuterKind;
using wire_test::Encapsulation;
using wire_test::encapsulations;
using wire_test::from_hex;
using wire_test::in_ethernet;
using wire_test::in_ethernet_ipv4;
using wire_test::in_ipv4;
using wire_test::in_ipv6;
using wire_test::in_udp;
using wire_test::joined;
using wire_test::Network;
using wire_test::Octets;

Octets sample(Network network = Network::Ipv4, std::size_t payload = 21) {
    return wire::encode(wire_test::sample_packet(*wire::find_opcode(0x0a), network, payload));
}

wire::Packet decode(const Octets& frame) {
    return wire::decode(frame, LinkType::Ethernet);
}
// A packet borrows from its frame.
wire::Packet decode(Octets&& frame) {
    static std::deque<Octets> kept;
    return decode(kept.emplace_back(std::move(frame)));
}

std::string outer_text(const wire::Packet& packet) {
    return packet.outer ? packet.outer->text() : "";
}

std::string what(const Octets& frame) {
    const auto packet = decode(frame);
    return packet.not_roce ? wire::other_summary(packet, frame) : "RoCE, or not decoded";
}

void expect_same_packet(const wire::Packet& packet, const wire::Packet& plain) {
    ASSERT_TRUE(packet.is_complete()) << (packet.malformed ? packet.malformed->text() : "");
    EXPECT_EQ(packet.ipv4, plain.ipv4);
    EXPECT_EQ(packet.ipv6, plain.ipv6);
    EXPECT_EQ(packet.grh, plain.grh);
    EXPECT_EQ(packet.udp, plain.udp);
    EXPECT_EQ(packet.bth, plain.bth);
    EXPECT_EQ(packet.reth, plain.reth);
    EXPECT_TRUE(std::ranges::equal(packet.payload, plain.payload));
    EXPECT_EQ(packet.icrc->value, plain.icrc->value);
    EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Good);
}

TEST(Outer, the_packet_inside_is_the_plain_packet_and_its_icrc_is_good) {
    for (const Encapsulation& encapsulation : encapsulations())
        for (const Network network : {Network::Ipv4, Network::Ipv6}) {
            SCOPED_TRACE(encapsulation.name);
            const auto inner = sample(network);
            const auto frame = encapsulation.wrap(inner);
            const auto packet = decode(frame);
            expect_same_packet(packet, decode(inner));
            EXPECT_EQ(outer_text(packet), encapsulation.text);
            EXPECT_EQ(packet.ethernet->src.bytes[1] == 0xaa, !encapsulation.carries_ethernet);
            EXPECT_EQ(wire_test::broken_invariant(packet, frame), "");
        }
}

TEST(Outer, a_frame_of_roce_v1_inside) {
    for (const Encapsulation& encapsulation : encapsulations())
        if (encapsulation.carries_ethernet) {
            SCOPED_TRACE(encapsulation.name);
            const auto inner = sample(Network::Grh);
            expect_same_packet(decode(encapsulation.wrap(inner)), decode(inner));
        }
}

TEST(Outer, addresses_are_those_of_the_ip_header_in_front) {
    for (const Encapsulation& encapsulation : encapsulations()) {
        const auto frame = encapsulation.wrap(sample());
        const auto packet = decode(frame);
        if (!packet.outer)
            continue;
        const wire::OuterLayer& layer = packet.outer->innermost();
        std::vector<std::string> addresses;
        for (const wire::IpAddress& address : {layer.src(), layer.dst()}) {
            if (const auto* ipv4 = std::get_if<wire::Ipv4Address>(&address))
                addresses.push_back(text(*ipv4));
            if (const auto* ipv6 = std::get_if<wire::Ipv6Address>(&address))
                addresses.push_back(text(*ipv6));
        }
        const bool has_none = layer.kind == OuterKind::Mpls || layer.kind == OuterKind::Pppoe;
        const bool is_ipv6 = encapsulation.name.find(" ipv6") != std::string_view::npos;
        using Texts = std::vector<std::string>;
        EXPECT_EQ(addresses, has_none  ? Texts()
                             : is_ipv6 ? (Texts{"fd00::2", "fd00::1"})
                                       : (Texts{"10.9.0.2", "10.9.0.1"}))
            << encapsulation.name;
    }
}

TEST(Outer, details_of_each_kind) {
    const auto layer = [](std::string_view name) {
        for (const Encapsulation& encapsulation : encapsulations())
            if (encapsulation.name == name)
                return decode(encapsulation.wrap(sample())).outer->innermost();
        return wire::OuterLayer{};
    };
    EXPECT_EQ(layer("gre").extra, wire::ether_type::ipv4);
    EXPECT_FALSE(layer("gre").has_id());
    EXPECT_EQ(layer("geneve").extra, 0x6558);
    EXPECT_EQ(layer("erspan I").detail, 1);
    EXPECT_FALSE(layer("erspan I").has_id());
    EXPECT_EQ(layer("erspan II").detail, 2);
    EXPECT_EQ(layer("erspan II").extra, 7);
    EXPECT_EQ(layer("erspan III").detail, 3);
    EXPECT_EQ(layer("erspan III").extra, 7);
    EXPECT_EQ(layer("mpls with four labels").detail, 4);
    EXPECT_EQ(layer("mpls with four labels").id, 20U);
}

// Cut by the snap length: never the packet's fault.
TEST(Outer, every_prefix_of_a_captured_packet_is_truncated) {
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

// A packet that ends too early: sliced behind an IP header, malformed in front of it, unless only a
// UDP port speaks for the tunnel and what is there of its contents is not RoCE.
TEST(Outer, every_prefix_that_was_all_there_was_is_sliced_or_malformed_or_not_roce) {
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
                // 17 bytes of MPLS and an Ethernet frame do not tell which of two it is.
                const bool is_ambiguous = encapsulation.name == "mpls pseudowire" && size < bth;
                EXPECT_TRUE(is_cut || is_ambiguous);
            } else {
                EXPECT_TRUE(is_cut || packet.not_roce);
            }
        }
    }
}

TEST(Outer, decoding_allocates_nothing) {
    for (const Encapsulation& encapsulation : encapsulations()) {
        const auto frame = encapsulation.wrap(sample());
        const support::AllocationCount count;
        const auto packet = decode(frame);
        EXPECT_EQ(count.count(), 0U) << encapsulation.name;
        EXPECT_TRUE(packet.bth);
    }
}

TEST(Outer, nested_encapsulations_are_outermost_first) {
    const auto inner = sample();
    const auto vxlan =
        in_ethernet_ipv4(17, in_udp(4789, joined("08000000 00002a00", util::Bytes(inner))));
    const auto tagged = in_ethernet(
        "8100",
        joined("0064 0800",
               util::Bytes(in_ipv4(47, joined("100088be 00000009 10070864 0000000a", vxlan)))));
    const auto packet = decode(tagged);
    expect_same_packet(packet, decode(inner));
    EXPECT_EQ(outer_text(packet), "ERSPAN 100, VXLAN 42");
    EXPECT_TRUE(packet.vlans.empty()) << "the tag is the mirror's, not the packet's";
    EXPECT_EQ(wire_test::broken_invariant(packet, tagged), "");
}

TEST(Outer, every_pair_of_encapsulations) {
    const auto all = encapsulations();
    const auto inner = sample(Network::Ipv6);
    for (const Encapsulation& outer : all)
        for (const Encapsulation& middle : all) {
            // A stack of tags or LLC is no IP packet, and behind a header without an EtherType
            // there has to be one.
            const auto wrapped = middle.wrap(inner);
            const bool is_ip = wrapped[12] == std::byte{0x08} || wrapped[12] == std::byte{0x86};
            if (!outer.carries_ethernet && (!is_ip || wrapped[13] == std::byte{0x47}))
                continue;
            if (outer.name == "mpls pseudowire" && wrapped[12] < std::byte{0x06})
                continue;  // a length says as little as a control word
            SCOPED_TRACE(std::string(outer.name) + ", " + std::string(middle.name));
            const auto frame = outer.wrap(wrapped);
            const auto packet = decode(frame);
            expect_same_packet(packet, decode(inner));
            const bool both = !outer.text.empty() && !middle.text.empty();
            EXPECT_EQ(outer_text(packet),
                      std::string(outer.text) + (both ? ", " : "") + std::string(middle.text));
            EXPECT_EQ(wire_test::broken_invariant(packet, frame), "");
        }
}

TEST(Outer, the_depth_is_bounded) {
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

TEST(Outer, any_number_of_vlan_tags_of_which_the_innermost_stays) {
    Octets tags;
    for (int i = 0; i < 1000; ++i)
        tags = joined("0001 8100", tags);
    const auto inner = sample();
    const auto frame = in_ethernet(
        "8100", joined(joined(tags, from_hex("0fff 0800")), util::Bytes(inner).subspan(14)));
    const auto packet = decode(frame);
    expect_same_packet(packet, decode(inner));
    EXPECT_EQ(packet.vlans.count, 4);
    EXPECT_EQ(packet.vlans.skipped, 997);
    EXPECT_EQ(packet.vlans.tags[3].id, 0xfff);
    EXPECT_EQ(wire_test::broken_invariant(packet, frame), "");
}

// The T bit of ERSPAN II and III.
TEST(Outer, a_mirror_that_cut_the_packet_truncates_it) {
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

TEST(Outer, the_first_fragment_of_a_tunnel_truncates_what_it_carries) {
    const auto inner = sample();
    auto frame =
        in_ethernet_ipv4(17, in_udp(4789, joined("08000000 00002a00", util::Bytes(inner))));
    frame.resize(frame.size() - 20);
    wire_test::put16(frame, 16, frame.size() - 14);
    frame[20] = std::byte{0x20};  // more fragments
    const auto packet = decode(frame);
    EXPECT_TRUE(packet.reth);
    EXPECT_TRUE(packet.truncated);
    EXPECT_FALSE(packet.malformed);
}

TEST(Outer, bytes_behind_the_outer_packet_are_not_of_the_inner_one) {
    const auto inner = sample();
    auto frame = in_ethernet_ipv4(4, util::Bytes(inner).subspan(14, 60));
    frame.resize(frame.size() + 40);
    const auto packet = decode(frame);
    ASSERT_TRUE(packet.truncated);
    EXPECT_TRUE(packet.truncated->is_sliced);
    EXPECT_EQ(packet.truncated->what, "payload");
    EXPECT_EQ(packet.truncated->left, 60U - 20 - 8 - 12 - 16);
}

TEST(Outer, what_is_inside_instead_of_roce_is_named) {
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
    EXPECT_EQ(what(in_ethernet_ipv4(47, from_hex("0000 88cc 0001"))), "GRE: EtherType 0x88cc");
    EXPECT_EQ(what(in_ethernet_ipv4(47, from_hex("0001 880b 0000"))),
              "an encapsulation that is not decoded");
    EXPECT_EQ(what(in_ethernet_ipv4(47, from_hex("4000 0800 0000"))),
              "an encapsulation that is not decoded");
    EXPECT_EQ(what(in_ethernet_ipv4(47, from_hex("1000 88be 00000001 7007 0064 00000000"))),
              "an encapsulation that is not decoded");
    EXPECT_EQ(what(in_ethernet("88e5", from_hex("0001"))), "MACsec, which is not decoded");
    EXPECT_EQ(what(in_ethernet("8864", from_hex("1100 0001 0004 c021 0101"))),
              "PPPoE 1: PPP protocol 0xc021");
    EXPECT_EQ(what(in_ethernet("0026", from_hex("424203 0000"))), "LLC");
}

TEST(Outer, other_programs_may_use_a_tunnels_port) {
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

// An address may begin with the bits of an IP version or with those of a control word.
TEST(Outer, a_pseudowire_without_a_control_word_is_told_from_ip_and_from_one_with_it) {
    for (const unsigned first : {0x00U, 0x02U, 0x10U, 0x44U, 0x64U, 0xf0U})
        for (const Network network : wire_test::all_networks) {
            auto inner = sample(network);
            inner[0] = static_cast<std::byte>(first);
            const auto packet = decode(in_ethernet("8847", joined("00013140", util::Bytes(inner))));
            SCOPED_TRACE(first);
            expect_same_packet(packet, decode(inner));
        }
}

TEST(Outer, an_authentication_header_stays_between_the_ip_header_and_udp) {
    const auto inner = sample();
    const util::Bytes udp = util::Bytes(inner).subspan(34);
    const auto ah = [](std::string_view next) {
        return from_hex(std::string(next) + "04 0000 00000100 00000001 000102030405060708090a0b");
    };
    for (const auto& frame : {in_ethernet_ipv4(51, joined(ah("11"), udp)),
                              in_ethernet("86dd", in_ipv6(51, joined(ah("11"), udp)))}) {
        const auto packet = decode(frame);
        ASSERT_TRUE(packet.is_complete());
        EXPECT_EQ(packet.reth, decode(inner).reth);
        EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Unchecked);
        EXPECT_EQ(wire_test::broken_invariant(packet, frame), "");
        for (std::size_t size = 0; size < frame.size(); ++size) {
            const wire_test::ExactCopy copy(util::Bytes(frame).first(size));
            EXPECT_TRUE(wire::decode(copy, LinkType::Ethernet, frame.size()).truncated);
            const auto all = wire::decode(copy, LinkType::Ethernet);
            EXPECT_EQ(all.malformed.has_value(), !all.ipv4 && !all.ipv6) << size;
            EXPECT_NE(all.malformed.has_value(), all.truncated && all.truncated->is_sliced) << size;
        }
    }
    // Tunnel mode.
    const auto packet =
        decode(in_ethernet_ipv4(51, joined(ah("04"), util::Bytes(inner).subspan(14))));
    expect_same_packet(packet, decode(inner));
    EXPECT_EQ(outer_text(packet), "IP in IP");
}

TEST(Outer, a_routing_header_is_passed) {
    const auto inner = sample();
    const auto frame = in_ethernet(
        "86dd", in_ipv6(43, joined("11 02 04 00 00000000 fd000000000000000000000000000001",
                                   util::Bytes(inner).subspan(34))));
    const auto packet = decode(frame);
    ASSERT_TRUE(packet.is_complete());
    EXPECT_EQ(packet.reth, decode(inner).reth);
    EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Unchecked);
}

TEST(Outer, stands_behind_a_line_whose_columns_stay) {
    const auto plain = sample();
    const auto frame = encapsulations().front().wrap(plain);
    EXPECT_EQ(wire::packet_summary(decode(frame), util::TextStyle(), frame),
              wire::packet_summary(decode(plain), util::TextStyle(), plain) + " [VXLAN 42]");
}

}  // namespace outer_decode_test
