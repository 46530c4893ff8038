// docs/wire-format.md: the packets in it are complete and valid.
#include <algorithm>
#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "support/wire_document.hpp"
#include "wire/encode.hpp"

namespace {

using support::wire_document;

std::size_t udp_at(const wire::Packet& packet) {
    return wire::Ethernet::size + packet.vlans.count * wire::Vlan::size +
           (packet.ipv4 ? wire::Ipv4::size : wire::Ipv6::size);
}

std::pair<std::string, std::string> addresses(const wire::Packet& packet) {
    if (packet.grh)
        return {text(packet.grh->sgid), text(packet.grh->dgid)};
    if (packet.ipv6)
        return {text(packet.ipv6->src), text(packet.ipv6->dst)};
    return {text(packet.ipv4->src), text(packet.ipv4->dst)};
}

TEST(WirePackets, every_packet_decodes_with_a_good_icrc) {
    EXPECT_GE(wire_document().packets.size(), 24U);
    for (const auto& [name, frame] : wire_document().packets) {
        SCOPED_TRACE(name);
        const auto packet = wire::decode(frame, wire::LinkType::Ethernet);
        EXPECT_TRUE(packet.is_complete());
        ASSERT_TRUE(packet.icrc);
        EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Good);
    }
}

// The ICRC does not cover the Ethernet header and the fields that routers change. Other checks
// apply to them: the encoder recalculates the checksums, only a CNP reports congestion, and each
// address has one MAC address.
TEST(WirePackets, every_packet_is_sound_also_where_the_icrc_does_not_look) {
    std::map<std::string, wire::MacAddress> owners;
    for (const auto& [name, frame] : wire_document().packets) {
        SCOPED_TRACE(name);
        const auto packet = wire::decode(frame, wire::LinkType::Ethernet);
        auto again = wire::encode(packet);
        if (packet.udp && packet.udp->checksum == 0)
            std::fill_n(again.begin() + static_cast<std::ptrdiff_t>(udp_at(packet) + 6), 2,
                        std::byte{0});
        EXPECT_EQ(again, frame);
        EXPECT_EQ(packet.bth->fecn, false);
        EXPECT_EQ(packet.bth->becn, packet.bth->opcode == wire::cnp_opcode);
        EXPECT_EQ(packet.bth->reserved6, 0);
        const auto [src, dst] = addresses(packet);
        EXPECT_EQ(owners.emplace(src, packet.ethernet->src).first->second, packet.ethernet->src);
        EXPECT_EQ(owners.emplace(dst, packet.ethernet->dst).first->second, packet.ethernet->dst);
    }
}

}  // namespace
