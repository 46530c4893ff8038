// Which packets with UDP port 4791 are RoCE.
#include "wire/roce_flows.hpp"

#include <gtest/gtest.h>

#include "wire/encapsulations.hpp"

namespace roce_flows_test {

using wire::IcrcCheck;
using wire::LinkType;
using wire_test::from_hex;
using wire_test::Network;
using wire_test::Octets;
using wire_test::put16;

constexpr std::size_t udp_at = wire::Ethernet::size + wire::Ipv4::size;
constexpr std::size_t bth_at = udp_at + wire::Udp::size;

Octets send(std::size_t payload = 64, Network network = Network::Ipv4) {
    return wire::encode(wire_test::sample_packet(*wire::find_opcode(0x04), network, payload));
}

Octets with_wrong_icrc(Octets frame) {
    frame.back() ^= std::byte{0xff};
    return frame;
}

Octets from_port(std::uint16_t port, Octets frame) {
    put16(frame, udp_at, port);
    return with_wrong_icrc(std::move(frame));
}

// A corrupted byte in the BTH.
Octets with_transport_version(Octets frame) {
    frame[bth_at + 1] |= std::byte{5};
    return frame;
}

// The answer of a DNS server to a query from port 4791; its ID is the BTH's opcode and flags.
Octets dns_answer(std::uint16_t id) {
    Octets message = from_hex(
        "0000 8180 0001 0001 0000 0000 07 6578616d706c65 03 636f6d 00 0001 0001 c00c 0001 0001 "
        "0000003c 0004 c0000235");
    put16(message, 0, id);
    Octets udp = wire_test::in_udp(4791, message);
    put16(udp, 0, 53);
    return wire_test::in_ethernet_ipv4(17, udp);
}

// The responder's ports are those of the request, swapped.
Octets reply(bool is_right = true) {
    auto packet = wire_test::sample_packet(*wire::find_opcode(0x11), Network::Ipv4, 0);
    std::swap(packet.ipv4->src, packet.ipv4->dst);
    packet.udp->dst_port = packet.udp->src_port;
    packet.udp->src_port = wire::roce_v2_port;
    Octets frame = wire::encode(packet);
    return is_right ? frame : with_wrong_icrc(frame);
}

class RoceFlows : public testing::Test {
  protected:
    bool is_roce(const Octets& frame, std::size_t length = 0) {
        frames_.push_back(frame);
        const Octets& kept = frames_.back();
        const std::size_t wire_length = std::max(length, kept.size());
        const auto packet = flows_.decode(kept, LinkType::Ethernet, wire_length);
        // The ICRC's computation does not change the decision.
        const auto skipped =
            skipping_.decode(kept, LinkType::Ethernet, wire_length, IcrcCheck::Skip);
        EXPECT_EQ(packet.bth, skipped.bth);
        EXPECT_EQ(packet.not_roce, skipped.not_roce);
        return packet.is_roce();
    }

    wire::RoceFlows flows_, skipping_;
    std::vector<Octets> frames_;
};

TEST_F(RoceFlows, leave_out_the_answers_of_another_protocol) {
    for (const std::uint16_t id :
         std::initializer_list<std::uint16_t>{0x0400, 0x1a30, 0x6400, 0xf123, 0x0410, 0x2440})
        EXPECT_FALSE(is_roce(dns_answer(id))) << id;
    EXPECT_EQ(flows_.left_out(), 6U);
    EXPECT_TRUE(flows_.left_out_text().starts_with(
        "6 packets to UDP port 4791 are not RoCE and left out: 10.9.0.2 port 53 → 10.9.0.1; "))
        << flows_.left_out_text();
}

TEST_F(RoceFlows, keep_their_other_udp_packet_as_such) {
    const auto frame = dns_answer(0x0400);
    const auto packet = flows_.decode(frame, LinkType::Ethernet, frame.size());
    EXPECT_EQ(packet.not_roce, wire::NotRoce::OtherUdpPort);
    EXPECT_EQ(packet.udp->src_port, 53);
    EXPECT_FALSE(packet.icrc || packet.malformed);
}

TEST_F(RoceFlows, decode_everything_if_told_to) {
    wire::RoceFlows all(true);
    const auto frame = dns_answer(0x0400);
    EXPECT_TRUE(all.decode(frame, LinkType::Ethernet, frame.size()).is_roce());
    EXPECT_EQ(all.left_out_text(), "");
}

TEST_F(RoceFlows, one_right_icrc_decides_for_ever) {
    EXPECT_TRUE(is_roce(send()));
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(is_roce(with_wrong_icrc(send(60))));
        EXPECT_TRUE(is_roce(with_wrong_icrc(with_transport_version(send()))));
    }
    EXPECT_EQ(flows_.left_out(), 0U);
}

TEST_F(RoceFlows, an_invalid_header_without_a_right_icrc_is_not_roce_at_first) {
    EXPECT_FALSE(is_roce(with_wrong_icrc(with_transport_version(send()))));
    EXPECT_FALSE(is_roce(with_wrong_icrc(send())));  // one of two looks like RoCE
    EXPECT_TRUE(is_roce(send()));
    EXPECT_TRUE(is_roce(with_wrong_icrc(with_transport_version(send()))));
    EXPECT_EQ(flows_.left_out(), 2U);
}

TEST_F(RoceFlows, wrong_icrcs_alone_are_no_reason) {
    for (int i = 0; i < 100; ++i)
        EXPECT_TRUE(is_roce(with_wrong_icrc(send())));
    EXPECT_TRUE(is_roce(with_wrong_icrc(with_transport_version(send()))));
}

TEST_F(RoceFlows, what_the_snap_length_cut_is_roce_from_any_port) {
    for (const std::uint16_t port : std::initializer_list<std::uint16_t>{17, 1023, 4791, 53550}) {
        auto frame = from_port(port, send(1024));
        const std::size_t length = frame.size();
        frame.resize(bth_at + wire::Bth::size);
        EXPECT_TRUE(is_roce(frame, length)) << port;
    }
}

TEST_F(RoceFlows, unusual_values_need_a_right_icrc) {
    EXPECT_TRUE(is_roce(from_port(1024, send())));
    EXPECT_FALSE(is_roce(from_port(1023, send())));
    const auto changed = [](std::size_t at, std::string_view bytes) {
        Octets frame = send();
        std::ranges::copy(from_hex(bytes),
                          frame.begin() + static_cast<std::ptrdiff_t>(bth_at + at));
        return frame;
    };
    std::uint16_t port = 0xd000;
    for (const Octets& frame :
         {changed(2, "8000"), changed(5, "000000"), changed(5, "000001"), changed(0, "c1")}) {
        put16(frames_.emplace_back(frame), udp_at, ++port);
        EXPECT_FALSE(is_roce(Octets(frames_.back()))) << port;
    }
    auto datagram =
        wire::encode(wire_test::sample_packet(*wire::find_opcode(0x64), Network::Ipv4, 256));
    std::ranges::copy(from_hex("000001"), datagram.begin() + bth_at + 5);
    EXPECT_TRUE(is_roce(from_port(++port, datagram))) << "to the GSI";
    auto length = send();
    put16(length, udp_at + 4, length.size() - udp_at - 1);
    put16(length, wire::Ethernet::size + 2, length.size() - wire::Ethernet::size - 1);
    put16(length, udp_at, ++port);
    EXPECT_FALSE(is_roce(length));
}

// That it is not reassembled is no fault of its sender.
TEST_F(RoceFlows, the_first_fragment_is_roce_if_its_length_may_be) {
    auto fragment = from_port(0xd000, send());
    fragment[wire::Ethernet::size + 6] |= std::byte{0x20};
    EXPECT_TRUE(is_roce(fragment));
    put16(fragment, udp_at, 0xd001);
    put16(fragment, udp_at + 4, 2001);
    EXPECT_FALSE(is_roce(fragment));
}

// The link emulator may corrupt any byte of a connection's first packet.
TEST_F(RoceFlows, a_corrupted_first_packet_between_hosts_that_use_roce_is_roce) {
    EXPECT_TRUE(is_roce(send()));
    const auto corrupted = with_transport_version(send());
    EXPECT_TRUE(is_roce(from_port(0xc000, corrupted)));
    EXPECT_FALSE(is_roce(from_port(0xbfff, corrupted)));
    auto elsewhere = from_port(0xc001, corrupted);
    elsewhere[udp_at - 1] ^= std::byte{8};
    EXPECT_FALSE(is_roce(elsewhere));
}

TEST_F(RoceFlows, replies_from_port_4791_are_roce_as_their_requests_are) {
    EXPECT_FALSE(is_roce(reply(false)));
    auto request = send();
    EXPECT_TRUE(is_roce(with_wrong_icrc(request)));
    EXPECT_FALSE(is_roce(dns_answer(0x0400)));
    frames_.push_back(reply(false));
    const auto packet = flows_.decode(frames_.back(), LinkType::Ethernet, frames_.back().size());
    ASSERT_TRUE(packet.is_roce());
    EXPECT_EQ(packet.bth->opcode, 0x11);
    EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Bad);
}

TEST_F(RoceFlows, a_reply_with_a_right_icrc_needs_no_request) {
    EXPECT_TRUE(is_roce(reply()));
    EXPECT_TRUE(is_roce(reply(false)));
}

TEST_F(RoceFlows, over_ipv6_and_in_tunnels_are_decided_alike) {
    EXPECT_TRUE(is_roce(send(64, Network::Ipv6)));
    for (const auto& encapsulation : wire_test::encapsulations())
        EXPECT_FALSE(is_roce(encapsulation.wrap(dns_answer(0x0400)))) << encapsulation.name;
    wire::RoceFlows flows;
    for (const auto& encapsulation : wire_test::encapsulations()) {
        const auto frame = encapsulation.wrap(send());
        EXPECT_TRUE(flows.decode(frame, LinkType::Ethernet, frame.size()).is_roce())
            << encapsulation.name;
    }
}

TEST_F(RoceFlows, roce_v1_is_roce) {
    EXPECT_TRUE(is_roce(with_wrong_icrc(with_transport_version(send(64, Network::Grh)))));
}

TEST_F(RoceFlows, text_names_three_flows) {
    EXPECT_EQ(flows_.left_out_text(), "");
    is_roce(from_port(100, send()));
    EXPECT_TRUE(flows_.left_out_text().starts_with(
        "1 packet to UDP port 4791 is not RoCE and left out: 192.0.2.2 port 100 → 192.0.2.1; "))
        << flows_.left_out_text();
}

TEST_F(RoceFlows, text_sums_up_other_flows_than_three) {
    for (std::uint16_t port = 100; port < 106; ++port)
        is_roce(from_port(port, send()));
    is_roce(from_port(100, send()));
    const std::string text = flows_.left_out_text();
    EXPECT_TRUE(text.starts_with("7 packets to UDP port 4791 are not RoCE and left out: ")) << text;
    EXPECT_NE(text.find(" port 100 → "), std::string::npos);
    EXPECT_NE(text.find(" (2), "), std::string::npos);
    EXPECT_NE(text.find(", others (3); --trust-port"), std::string::npos) << text;
}

TEST_F(RoceFlows, give_a_bad_icrc_its_hint) {
    is_roce(send());
    auto translated = send();
    translated[udp_at - 8] = std::byte{203};
    frames_.push_back(translated);
    const auto packet = flows_.decode(frames_.back(), LinkType::Ethernet, frames_.back().size());
    ASSERT_TRUE(packet.icrc && packet.icrc->hint);
    EXPECT_EQ(packet.icrc->hint->kind, wire::IcrcHint::Kind::SourceAddress);
}

TEST_F(RoceFlows, find_an_address_that_no_packet_has) {
    auto translated = send();
    const auto own = wire::decode(translated, LinkType::Ethernet, translated.size()).ipv4->src;
    translated[udp_at - 8] = std::byte{203};
    const auto hint = [&] {
        const auto packet = flows_.decode(translated, LinkType::Ethernet, translated.size());
        return packet.icrc->hint == nullptr ? "none" : packet.icrc->hint->text();
    };
    EXPECT_EQ(hint(), "none");
    flows_.know(own);
    EXPECT_EQ(hint(), "right with source address " + wire::text(own));
}

}  // namespace roce_flows_test
