#include "wire/encode.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

#include "wire/ip.hpp"
#include "wire/sample_frames.hpp"

namespace encode_test {

using wire::LinkType;
using wire_test::Network;

wire::Packet send_only(Network network, std::size_t payload) {
    return wire_test::sample_packet(*wire::find_opcode(0x04), network, payload);
}

TEST(Encode, fills_the_payload_up_to_four_bytes_with_zeros) {
    for (const std::size_t size : {0U, 1U, 2U, 3U, 4U}) {
        const auto frame = wire::encode(send_only(Network::Ipv4, size));
        EXPECT_EQ(frame.size(), 14U + 20 + 8 + 12 + (size + 3) / 4 * 4 + 4);
        const auto packet = wire::decode(frame, LinkType::Ethernet);
        EXPECT_EQ(packet.bth->padcnt, (4 - size % 4) % 4);
        EXPECT_EQ(packet.payload_length, size);
        const auto padding = util::Bytes(frame).subspan(54 + size, packet.bth->padcnt);
        EXPECT_EQ(std::ranges::count(padding, std::byte{0}), packet.bth->padcnt);
    }
}

TEST(Encode, computes_lengths_and_types_whatever_the_packet_says) {
    auto packet = send_only(Network::Ipv4, 4);
    packet.ethernet->type = 0x1234;
    packet.ipv4->total_length = 7;
    packet.ipv4->protocol = 6;
    packet.ipv4->header_length = 60;
    packet.udp->length = 9;
    packet.bth->padcnt = 3;
    const auto frame = wire::encode(packet);
    const auto decoded = wire::decode(frame, LinkType::Ethernet);
    EXPECT_TRUE(decoded.is_complete());
    EXPECT_EQ(decoded.ipv4->total_length, 20 + 8 + 12 + 4 + 4);
    EXPECT_EQ(decoded.udp->length, 8 + 12 + 4 + 4);
}

// RFC 1071: the one's complement sum of the data, including the checksum, is all ones.
TEST(Encode, checksums_add_up) {
    for (const auto network : {Network::Ipv4, Network::Ipv6})
        for (const std::size_t size : {0U, 1U, 1000U}) {
            const auto frame = wire::encode(send_only(network, size));
            const util::Bytes ip = util::Bytes(frame).subspan(14);
            const bool is_v4 = network == Network::Ipv4;
            if (is_v4) {
                EXPECT_EQ(wire::internet_checksum(wire::ones_sum(ip.first(20))), 0);
            }
            const util::Bytes udp = ip.subspan(is_v4 ? 20 : 40);
            const util::Bytes addresses = is_v4 ? ip.subspan(12, 8) : ip.subspan(8, 32);
            const auto sum = wire::ones_sum(addresses) + wire::ip_protocol::udp + udp.size() +
                             wire::ones_sum(udp);
            EXPECT_EQ(wire::internet_checksum(sum), 0);
        }
}

TEST(Encode, without_ethernet_begins_with_ip) {
    auto packet = send_only(Network::Ipv6, 4);
    const auto with = wire::encode(packet);
    packet.ethernet.reset();
    const auto without = wire::encode(packet);
    EXPECT_TRUE(std::ranges::equal(without, util::Bytes(with).subspan(14)));
}

TEST(Encode, headers_that_are_not_given_are_zeros_and_those_not_asked_for_are_left_out) {
    auto packet = send_only(Network::Ipv4, 4);
    packet.reth = wire::Reth{.va = 1, .rkey = 2, .dmalen = 3};
    EXPECT_EQ(wire::encode(packet), wire::encode(send_only(Network::Ipv4, 4)));
    packet.reth.reset();
    packet.bth->opcode = 0x0a;
    const auto frame = wire::encode(packet);
    EXPECT_EQ(wire::decode(frame, LinkType::Ethernet).reth, wire::Reth{});
}

TEST(Encode, an_opcode_without_a_row_is_followed_by_the_payload) {
    auto packet = send_only(Network::Ipv4, 8);
    packet.bth->opcode = 0xc1;
    const auto frame = wire::encode(packet);
    const auto decoded = wire::decode(frame, LinkType::Ethernet);
    EXPECT_EQ(decoded.opcode, nullptr);
    EXPECT_EQ(decoded.payload_length, 8U);
    EXPECT_EQ(decoded.icrc->status, wire::IcrcStatus::Good);
}

TEST(Encode, refuses_what_is_no_packet) {
    const auto refused = [](auto change) {
        auto packet = send_only(Network::Ipv4, 4);
        change(packet);
        EXPECT_THROW(wire::encode(packet), std::invalid_argument);
    };
    refused([](wire::Packet& packet) { packet.bth.reset(); });
    refused([](wire::Packet& packet) { packet.ipv4.reset(); });
    refused([](wire::Packet& packet) { packet.ipv6 = wire::Ipv6{}; });
    refused([](wire::Packet& packet) { packet.bth->opcode = 0x11; });
    refused([](wire::Packet& packet) {
        packet.ipv4.reset();
        packet.ethernet.reset();
        packet.grh = wire::Grh{};
    });
}

TEST(Encode, refuses_one_byte_more_than_the_length_field_holds) {
    constexpr std::size_t headers = 20 + 8 + 12 + 4;
    const std::vector<std::byte> payload(65535 - headers);  // 65536 with padding
    auto packet = send_only(Network::Ipv4, 0);
    packet.payload = util::Bytes(payload).first(payload.size() / 4 * 4);
    EXPECT_NO_THROW(wire::encode(packet));
    packet.payload = payload;
    EXPECT_THROW(wire::encode(packet), std::invalid_argument);
}

}  // namespace encode_test
