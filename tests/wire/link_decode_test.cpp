// VLAN tags, IPv6 extension headers and other variants of the headers before UDP.
#include <gtest/gtest.h>

#include "wire/sample_frames.hpp"

namespace link_decode_test {

using wire::Fault;
using wire::LinkType;
using wire::NotRoce;
using wire_test::from_hex;
using wire_test::Network;

constexpr std::size_t ethernet = 14;

wire::Packet write_only(Network network) {
    return wire_test::sample_packet(*wire::find_opcode(0x0a), network, 6);
}

// Inserts `headers` between the IPv6 header and UDP. `next`: the type of the first one.
std::vector<std::byte> with_extension(unsigned next, std::string_view headers) {
    auto frame = wire::encode(write_only(Network::Ipv6));
    const auto bytes = from_hex(headers);
    frame.insert(frame.begin() + ethernet + 40, bytes.begin(), bytes.end());
    frame[ethernet + 6] = static_cast<std::byte>(next);
    frame[ethernet + 5] =
        static_cast<std::byte>(std::to_integer<std::size_t>(frame[ethernet + 5]) + bytes.size());
    return frame;
}

wire::Packet decode(const std::vector<std::byte>& frame) {
    return wire::decode(frame, LinkType::Ethernet);
}

TEST(Vlans, one_and_two_tags_outermost_first) {
    for (const auto network : wire_test::all_networks) {
        auto sent = write_only(network);
        sent.vlans.tags = {wire::Vlan{.priority = 5, .dei = true, .id = 0x123, .type = 0},
                           wire::Vlan{.priority = 2, .dei = false, .id = 0xabc, .type = 0}};
        sent.vlans.count = 2;
        const auto frame = wire::encode(sent);
        const auto packet = decode(frame);
        ASSERT_TRUE(packet.is_complete());
        EXPECT_EQ(packet.ethernet->type, wire::ether_type::service_vlan);
        ASSERT_EQ(packet.vlans.count, 2);
        EXPECT_EQ(packet.vlans.tags[0].id, 0x123);
        EXPECT_EQ(packet.vlans.tags[0].priority, 5);
        EXPECT_TRUE(packet.vlans.tags[0].dei);
        EXPECT_EQ(packet.vlans.tags[0].type, wire::ether_type::vlan);
        EXPECT_EQ(packet.vlans.tags[1].id, 0xabc);
        EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Good);
        sent.vlans.count = 1;
        const auto tagged = wire::encode(sent);
        EXPECT_EQ(decode(tagged).ethernet->type, wire::ether_type::vlan);
        EXPECT_EQ(decode(tagged).vlans.count, 1);
        EXPECT_TRUE(decode(tagged).is_complete());
    }
}

TEST(Vlans, stand_behind_a_cooked_header_too) {
    auto frame = from_hex("0000 0001 0006 525400000202 0000 8100 6007 0800");
    const auto plain = wire::encode(write_only(Network::Ipv4));
    frame.insert(frame.end(), plain.begin() + ethernet, plain.end());
    const auto packet = wire::decode(frame, LinkType::LinuxCooked);
    EXPECT_TRUE(packet.is_complete());
    EXPECT_EQ(packet.vlans.tags[0].id, 7);
    EXPECT_EQ(packet.sll->protocol, wire::ether_type::vlan);
}

TEST(Ipv6Extensions, options_of_any_length_in_any_number) {
    const auto packet = decode(with_extension(0,
                                              "3c 01 010c 000000000000 000000000000"  // 16 bytes
                                              "11 00 0104 00000000"));
    ASSERT_TRUE(packet.is_complete());
    EXPECT_EQ(packet.udp->dst_port, wire::roce_v2_port);
    EXPECT_EQ(packet.reth->rkey, 0xdeadbeefU);
    EXPECT_NE(packet.icrc->reason.find("IPv6 extension headers"), std::string_view::npos);
}

TEST(Ipv6Extensions, that_end_behind_the_packet) {
    const auto packet = decode(with_extension(60, "11 ff 0104 00000000"));
    EXPECT_FALSE(packet.udp);
    EXPECT_EQ(packet.malformed->fault, Fault::TooShort);
    EXPECT_EQ(packet.malformed->value, 255U * 8);
}

// Fragment header: next header, reserved, offset (bits 15:3) and M flag (bit 0), identification.
TEST(Ipv6Extensions, fragments) {
    const auto atomic = with_extension(44, "11 00 0000 00000001");
    EXPECT_TRUE(decode(atomic).is_complete()) << "a fragment that is the whole (RFC 6946)";
    const auto first = with_extension(44, "11 00 0001 00000001");
    const auto packet = decode(first);
    EXPECT_EQ(packet.reth->rkey, 0xdeadbeefU);
    EXPECT_EQ(packet.malformed->text(), "RoCE in an IPv6 fragment, which is not reassembled");
    EXPECT_EQ(packet.icrc->reason, "the packet's end is not in the frame");
    const auto later = with_extension(44, "11 00 0009 00000001");
    EXPECT_EQ(decode(later).not_roce, NotRoce::LaterFragment);
}

TEST(Ipv6Extensions, that_are_not_decoded) {
    EXPECT_EQ(decode(with_extension(50, "1102000000000000")).not_roce, NotRoce::Esp);
    EXPECT_EQ(decode(with_extension(6, "")).not_roce, NotRoce::Tcp);
    EXPECT_EQ(decode(with_extension(58, "")).not_roce, NotRoce::OtherIpProtocol);
}

TEST(RawIp, of_an_unknown_version) {
    const auto frame = from_hex("55000000 00000000");
    EXPECT_EQ(wire::decode(frame, LinkType::RawIp).malformed->text(), "IP version is 5");
}

TEST(Decode, an_empty_frame_is_malformed_unless_it_was_cut) {
    for (const auto link :
         {LinkType::Ethernet, LinkType::LinuxCooked, LinkType::LinuxCooked2, LinkType::RawIp}) {
        EXPECT_EQ(wire::decode({}, link).malformed->fault, Fault::TooShort);
        EXPECT_FALSE(wire::decode({}, link, 100).malformed);
        EXPECT_EQ(wire::decode({}, link, 100).truncated->left, 0U);
    }
}

}  // namespace link_decode_test
