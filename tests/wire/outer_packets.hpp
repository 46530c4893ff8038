// Packets in encapsulations, and expectations for the inner packets, for tests.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "wire/encapsulations.hpp"
#include "wire/text/other.hpp"

namespace outer_test {

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

inline Octets sample(Network network = Network::Ipv4, std::size_t payload = 21) {
    return wire::encode(wire_test::sample_packet(*wire::find_opcode(0x0a), network, payload));
}

inline wire::Packet decode(const Octets& frame) {
    return wire::decode(frame, LinkType::Ethernet);
}
// Keeps the frame, because the packet refers to it.
inline wire::Packet decode(Octets&& frame) {
    static std::deque<Octets> kept;
    return decode(kept.emplace_back(std::move(frame)));
}

inline std::string outer_text(const wire::Packet& packet) {
    return packet.outer ? packet.outer->text() : "";
}

inline std::string what(const Octets& frame) {
    const auto packet = decode(frame);
    return packet.not_roce ? wire::other_summary(packet, frame) : "RoCE, or not decoded";
}

inline void expect_same_packet(const wire::Packet& packet, const wire::Packet& plain) {
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

}  // namespace outer_test
