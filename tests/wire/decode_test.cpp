// Headers that may precede a BTH, and packets that are not RoCE.
#include <gtest/gtest.h>

#include "wire/sample_frames.hpp"

namespace decode_test {

using wire::LinkType;
using wire::NotRoce;
using wire_test::from_hex;
using wire_test::Network;

std::vector<std::byte> write_only(Network network) {
    return wire::encode(wire_test::sample_packet(*wire::find_opcode(0x0a), network, 6));
}

// Returns an IP packet after this link header.
std::vector<std::byte> behind(std::string_view link_header, Network network) {
    constexpr std::ptrdiff_t ethernet = 14;
    auto frame = from_hex(link_header);
    const auto bytes = write_only(network);
    frame.insert(frame.end(), bytes.begin() + ethernet, bytes.end());
    return frame;
}

void expect_write(const std::vector<std::byte>& frame, LinkType link) {
    const auto packet = wire::decode(frame, link);
    ASSERT_TRUE(packet.is_complete()) << (packet.malformed ? packet.malformed->text() : "");
    EXPECT_EQ(packet.bth->opcode, 0x0a);
    EXPECT_EQ(packet.reth->rkey, 0xdeadbeefU);
    EXPECT_EQ(packet.payload.size(), 6U);
    EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Good);
}

TEST(Decode, ethernet_of_every_network) {
    for (const auto network : wire_test::all_networks)
        expect_write(write_only(network), LinkType::Ethernet);
}

TEST(Decode, linux_cooked_captures) {
    // Packet type, ARPHRD, address length, address, protocol.
    expect_write(behind("0000 0001 0006 5254 0000 0202 0000 0800", Network::Ipv4),
                 LinkType::LinuxCooked);
    expect_write(behind("0004 0001 0006 5254 0000 0202 0000 86dd", Network::Ipv6),
                 LinkType::LinuxCooked);
    // Protocol, reserved, interface, ARPHRD, packet type, address length, address.
    expect_write(behind("0800 0000 0000 0002 0001 00 06 5254 0000 0202 0000", Network::Ipv4),
                 LinkType::LinuxCooked2);
}

TEST(Decode, raw_ip_of_both_versions) {
    expect_write(behind("", Network::Ipv4), LinkType::RawIp);
    expect_write(behind("", Network::Ipv6), LinkType::RawIp);
}

TEST(Decode, the_padding_of_a_short_ethernet_frame_is_not_payload) {
    auto packet = wire_test::sample_packet(*wire::find_opcode(0x04), Network::Ipv4, 0);
    auto frame = wire::encode(packet);
    frame.resize(frame.size() + 18);
    const auto decoded = wire::decode(frame, LinkType::Ethernet);
    EXPECT_TRUE(decoded.is_complete());
    EXPECT_EQ(decoded.payload_length, 0U);
    EXPECT_EQ(decoded.icrc->status, wire::IcrcStatus::Good);
}

TEST(Decode, ipv4_options_are_skipped_and_the_icrc_left_unchecked) {
    auto frame = write_only(Network::Ipv4);
    const auto options = from_hex("0101 0101");
    frame.insert(frame.begin() + 34, options.begin(), options.end());
    frame[14] = std::byte{0x46};
    frame[17] = static_cast<std::byte>(std::to_integer<unsigned>(frame[17]) + 4);
    const auto packet = wire::decode(frame, LinkType::Ethernet);
    ASSERT_TRUE(packet.is_complete());
    EXPECT_EQ(packet.reth->rkey, 0xdeadbeefU);
    EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Unchecked);
    EXPECT_NE(packet.icrc->reason.find("IPv4 options"), std::string_view::npos);
}

TEST(Decode, ipv6_extension_headers_up_to_udp) {
    auto frame = write_only(Network::Ipv6);
    const auto hop_by_hop = from_hex("11 00 0104 0000 0000");  // next header UDP, PadN option
    frame.insert(frame.begin() + 54, hop_by_hop.begin(), hop_by_hop.end());
    frame[14 + 6] = std::byte{0};
    frame[14 + 5] = static_cast<std::byte>(std::to_integer<unsigned>(frame[14 + 5]) + 8);
    const auto packet = wire::decode(frame, LinkType::Ethernet);
    ASSERT_TRUE(packet.is_complete());
    EXPECT_EQ(packet.reth->rkey, 0xdeadbeefU);
    EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Unchecked);
}

TEST(Decode, fragments_are_not_reassembled) {
    auto first = write_only(Network::Ipv4);
    first[20] = std::byte{0x20};  // more fragments
    const auto decoded = wire::decode(first, LinkType::Ethernet);
    EXPECT_TRUE(decoded.bth);
    ASSERT_TRUE(decoded.malformed);
    EXPECT_EQ(decoded.malformed->fault, wire::Fault::FirstFragment);
    auto later = write_only(Network::Ipv4);
    later[21] = std::byte{0x10};  // offset 128
    EXPECT_EQ(wire::decode(later, LinkType::Ethernet).not_roce, NotRoce::LaterFragment);
}

TEST(Decode, says_what_a_frame_is_that_is_none_of_ours) {
    const auto what = [](std::size_t at, unsigned value, Network network) {
        auto frame = write_only(network);
        frame[at] = static_cast<std::byte>(value);
        return wire::decode(frame, LinkType::Ethernet).not_roce;
    };
    EXPECT_EQ(what(13, 0x06, Network::Ipv4), NotRoce::Arp);
    EXPECT_EQ(what(12, 0x12, Network::Ipv4), NotRoce::OtherEtherType);
    EXPECT_EQ(what(23, 6, Network::Ipv4), NotRoce::Tcp);
    EXPECT_EQ(what(23, 1, Network::Ipv4), NotRoce::OtherIpProtocol);
    EXPECT_EQ(what(20, 50, Network::Ipv6), NotRoce::Esp);
    EXPECT_EQ(what(36, 0x13, Network::Ipv4), NotRoce::OtherUdpPort);
    EXPECT_EQ(what(36, 0x12, Network::Ipv4), std::nullopt);
}

}  // namespace decode_test
