// Packets in tunnels, in mirrored traffic and after labels.
#include <gtest/gtest.h>

#include "support/allocation_count.hpp"
#include "wire/outer_packets.hpp"
#include "wire/packet_invariants.hpp"
#include "wire/text/summary.hpp"

namespace outer_decode_test {

using namespace outer_test;

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
    EXPECT_EQ(layer("gre").detail, 0);
    EXPECT_FALSE(layer("gre").has_id());
    EXPECT_EQ(layer("gre of ethernet with a key").detail, 1);
    EXPECT_EQ(layer("gre of ethernet with a key").id, 79U);
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
            // An outer header that carries no Ethernet frame requires an IP packet; VLAN tags and
            // LLC are not IP packets.
            const auto wrapped = middle.wrap(inner);
            const bool is_ip = wrapped[12] == std::byte{0x08} || wrapped[12] == std::byte{0x86};
            if (!outer.carries_ethernet && (!is_ip || wrapped[13] == std::byte{0x47}))
                continue;
            if (outer.name == "mpls pseudowire" && wrapped[12] < std::byte{0x06})
                continue;  // an LLC frame has no EtherType to recognize
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

// A MAC address may begin with the same bits as an IP header or a control word.
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
