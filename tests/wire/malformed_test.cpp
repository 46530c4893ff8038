// Complete packets with errors: decoded as far as possible, with one sentence about the first
// error.
#include <gtest/gtest.h>

#include "wire/sample_frames.hpp"

namespace malformed_test {

using wire_test::Network;

constexpr std::size_t ip = 14;
constexpr std::size_t udp = ip + 20;
constexpr std::size_t bth = udp + 8;

std::vector<std::byte> send_only(std::size_t payload) {
    return wire::encode(wire_test::sample_packet(*wire::find_opcode(0x04), Network::Ipv4, payload));
}

std::string why(const std::vector<std::byte>& frame) {
    const auto packet = wire::decode(frame, wire::LinkType::Ethernet);
    return packet.malformed ? packet.malformed->text() : "not malformed";
}

std::string why_with(std::size_t at, unsigned value, std::size_t payload = 8,
                     Network network = Network::Ipv4) {
    auto frame = wire::encode(wire_test::sample_packet(*wire::find_opcode(0x04), network, payload));
    frame[at] = static_cast<std::byte>(value);
    return why(frame);
}

TEST(Malformed, a_reserved_opcode_still_shows_its_bth) {
    auto frame = send_only(8);
    frame[bth] = std::byte{0x1f};
    const auto packet = wire::decode(frame, wire::LinkType::Ethernet);
    EXPECT_EQ(why(frame), "BTH opcode 0x1f is reserved");
    EXPECT_EQ(packet.bth->dest_qpn, 0x012345U);
    EXPECT_EQ(packet.opcode, nullptr);
}

TEST(Malformed, a_manufacturers_opcode_is_not) {
    EXPECT_EQ(why_with(bth, 0xc1), "not malformed");
}

TEST(Malformed, a_transport_version_other_than_0) {
    EXPECT_EQ(why_with(bth + 1, 0x02), "BTH transport version is 2, not 0");
}

TEST(Malformed, lengths_that_contradict_each_other) {
    EXPECT_EQ(why_with(ip, 0x44), "IPv4 header length is 16, below 20");
    EXPECT_EQ(why_with(ip, 0x65), "IPv4 header version is 6");
    EXPECT_EQ(why_with(ip + 3, 200), "UDP length is 32, but IP leaves 180 bytes");
    EXPECT_EQ(why_with(ip + 3, 10), "IPv4 length is 10, below the 20 bytes of its own header");
    EXPECT_EQ(why_with(udp + 5, 40), "UDP length is 40, but IP leaves 32 bytes");
    EXPECT_EQ(why_with(udp + 5, 4), "UDP length is 4, below the 8 bytes of its own header");
}

TEST(Malformed, more_padding_than_there_is) {
    EXPECT_EQ(why_with(bth + 1, 0x30, 0),
              "BTH pad count is 3, but payload and padding have 0 bytes");
}

TEST(Malformed, payload_behind_an_opcode_that_carries_none) {
    // A SEND of 20 bytes with the opcode of a READ request: the first 16 bytes are then its RETH.
    EXPECT_EQ(why_with(bth, 0x0c, 20), "4 bytes of payload after an opcode that carries none");
}

TEST(Malformed, a_header_that_does_not_fit_shows_those_in_front_of_it) {
    // A SEND of 8 bytes with the opcode of a WRITE: too short for a RETH of 16 bytes.
    auto frame = send_only(8);
    frame[bth] = std::byte{0x0a};
    const auto packet = wire::decode(frame, wire::LinkType::Ethernet);
    EXPECT_EQ(why(frame), "RETH needs 16 bytes, 12 left");
    EXPECT_TRUE(packet.bth);
    EXPECT_FALSE(packet.reth);
    EXPECT_FALSE(packet.icrc);
}

TEST(Malformed, a_grh_that_leads_elsewhere) {
    auto frame = wire::encode(wire_test::sample_packet(*wire::find_opcode(0x04), Network::Grh, 8));
    frame[ip + 6] = std::byte{0x11};
    EXPECT_EQ(why(frame), "GRH next header is 0x11, not 0x1b");
}

TEST(Malformed, a_management_datagram_that_is_too_short) {
    const auto mad = wire_test::cm_mad(wire::CmAttribute::ConnectRequest, {});
    const auto frame =
        wire::encode(wire_test::cm_packet(util::Bytes(mad).first(100), Network::Ipv4));
    EXPECT_EQ(why(frame), "MAD needs 256 bytes, 100 left");
}

TEST(Malformed, lengths_of_ipv6_and_of_a_grh) {
    EXPECT_EQ(why_with(ip, 0x56, 8, Network::Ipv6), "IPv6 header version is 5");
    EXPECT_EQ(why_with(ip + 5, 200, 8, Network::Ipv6), "UDP length is 32, but IP leaves 200 bytes");
    EXPECT_EQ(why_with(ip + 5, 7, 8, Network::Ipv6), "UDP header needs 8 bytes, 7 left");
    EXPECT_EQ(why_with(ip, 0x40, 8, Network::Grh), "GRH version is 4");
    EXPECT_EQ(why_with(ip + 5, 15, 8, Network::Grh), "ICRC needs 4 bytes, 3 left");
}

TEST(Malformed, a_udp_length_below_what_ip_has_ends_the_packet) {
    auto frame = send_only(8);
    frame[udp + 5] = std::byte{28};  // four bytes less than IP's
    const auto packet = wire::decode(frame, wire::LinkType::Ethernet);
    EXPECT_EQ(why(frame), "UDP length is 28, but IP leaves 32 bytes");
    EXPECT_EQ(packet.payload_length, 4U);
    EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Bad);
}

TEST(Malformed, of_several_faults_the_first_is_named) {
    auto frame = send_only(8);
    frame[udp + 5] = std::byte{28};
    frame[bth] = std::byte{0x1f};
    frame[bth + 1] = std::byte{0x02};
    EXPECT_EQ(why(frame), "UDP length is 28, but IP leaves 32 bytes");
}

// Packets that are not RoCE are not checked, such as TCP segments that the adapter will segment.
TEST(Malformed, is_never_said_of_what_is_no_roce) {
    auto frame = send_only(8);
    frame[ip + 2] = std::byte{0xff};  // longer than the frame
    frame[udp + 2] = std::byte{0x13};
    EXPECT_EQ(why(frame), "not malformed");
    frame[ip + 9] = std::byte{wire::ip_protocol::tcp};
    frame[ip + 2] = frame[ip + 3] = std::byte{0};
    EXPECT_EQ(why(frame), "not malformed");
    EXPECT_EQ(wire::decode(frame, wire::LinkType::Ethernet).not_roce, wire::NotRoce::Tcp);
}

}  // namespace malformed_test
