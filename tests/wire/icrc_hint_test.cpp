// Finds the original UDP source port from the ICRC if the port was rewritten before the capture.
#include "wire/icrc_hint.hpp"

#include <gtest/gtest.h>

#include "wire/encapsulations.hpp"
#include "wire/text/summary.hpp"

namespace icrc_hint_test {

using wire::LinkType;
using wire_test::Network;
using wire_test::Octets;

constexpr std::uint16_t sent_port = 0xc123;

Octets sample(Network network, std::size_t payload) {
    return wire::encode(wire_test::sample_packet(*wire::find_opcode(0x04), network, payload));
}

std::size_t udp_at(Network network) {
    return wire::Ethernet::size + (network == Network::Ipv4 ? wire::Ipv4::size : wire::Ipv6::size);
}

TEST(RightWithSrcport, finds_the_port_that_was_sent) {
    for (const Network network : {Network::Ipv4, Network::Ipv6})
        for (const std::size_t payload : {0U, 1U, 7U, 64U, 1024U, 4096U}) {
            auto frame = sample(network, payload);
            for (const unsigned port : {0U, 1U, 0x00c1U, 0xc122U, 0x2312U, 0xffffU}) {
                wire_test::put16(frame, udp_at(network), port);
                const auto packet = wire::decode(frame, LinkType::Ethernet);
                ASSERT_EQ(packet.icrc->status, wire::IcrcStatus::Bad);
                EXPECT_EQ(wire::right_with_srcport(packet), sent_port);
            }
        }
}

TEST(RightWithSrcport, finds_it_behind_every_other_port) {
    auto frame = sample(Network::Ipv4, 16);
    for (unsigned port = 0; port < 0x10000; ++port) {
        wire_test::put16(frame, udp_at(Network::Ipv4), port);
        const auto hint = wire::right_with_srcport(wire::decode(frame, LinkType::Ethernet));
        ASSERT_EQ(hint, port == sent_port ? std::nullopt : std::optional(sent_port));
    }
}

TEST(RightWithSrcport, in_a_tunnel_is_that_of_the_inner_packet) {
    auto inner = sample(Network::Ipv4, 20);
    wire_test::put16(inner, udp_at(Network::Ipv4), 5);
    const auto frame = wire_test::encapsulations().front().wrap(inner);
    EXPECT_EQ(wire::right_with_srcport(wire::decode(frame, LinkType::Ethernet)), sent_port);
}

TEST(RightWithSrcport, does_not_explain_other_damage) {
    const auto whole = sample(Network::Ipv4, 64);
    for (std::size_t at = 42 + 12; at < whole.size(); ++at) {
        auto frame = whole;
        frame[at] ^= std::byte{0x10};
        const auto packet = wire::decode(frame, LinkType::Ethernet);
        ASSERT_EQ(packet.icrc->status, wire::IcrcStatus::Bad);
        EXPECT_EQ(wire::right_with_srcport(packet), std::nullopt) << at;
    }
    auto other_address = whole;
    other_address[26] ^= std::byte{1};
    EXPECT_FALSE(wire::right_with_srcport(wire::decode(other_address, LinkType::Ethernet)));
    EXPECT_FALSE(wire::right_with_srcport(wire::decode(whole, LinkType::Ethernet)));
}

TEST(RightWithSrcport, stands_in_the_line) {
    auto frame = sample(Network::Ipv4, 8);
    wire_test::put16(frame, udp_at(Network::Ipv4), 7);
    const auto line = wire::packet_summary(wire::decode(frame, LinkType::Ethernet));
    EXPECT_TRUE(line.ends_with(" expected, right with UDP source port 49443")) << line;
}

}  // namespace icrc_hint_test
