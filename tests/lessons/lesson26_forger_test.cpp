// Lesson 26's forged chunk, without a device: what its frames are, and that they stay in the lab.
#include <gtest/gtest.h>

#include "examples/26_all_reduce/forger.hpp"

namespace lesson26_forger_test {

util::Address address(const char* host) {
    return util::Address::parse(host).value();
}

// {from, to}
class ForgedChunk : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(ForgedChunk, is_four_writes_of_nothing_with_the_psns_after_the_messages_about_memory) {
    const auto& [from, to] = GetParam();
    std::uint32_t psn = 0x8b456a;
    for (const auto& frame : lesson26::forged_chunk(address(from), address(to), 0x12)) {
        const wire::Packet packet = wire::decode(frame, wire::LinkType::Ethernet);
        ASSERT_TRUE(packet.is_complete());
        EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Good);
        EXPECT_EQ(packet.bth->psn.value(), psn);
        EXPECT_EQ(packet.bth->dest_qpn, 0x12U);
        EXPECT_FALSE(packet.bth->a) << "nobody gets an ACK for it";
        EXPECT_EQ(packet.reth, wire::Reth()) << "no address, no rkey, no length";
        EXPECT_EQ(packet.immdt.has_value(), psn == 0x8b456a);
        EXPECT_EQ(packet.immdt.value_or(wire::ImmDt()).value, 0U) << "inbox 0";
        if (packet.ipv4) {
            EXPECT_EQ(text(packet.ipv4->src), from);
            EXPECT_EQ(text(packet.ipv4->dst), to);
            EXPECT_EQ(packet.ipv4->ttl, 1U);
        } else {
            EXPECT_EQ(text(packet.ipv6->src), from);
            EXPECT_EQ(text(packet.ipv6->dst), to);
            EXPECT_EQ(packet.ipv6->hop_limit, 1U);
        }
        lesson09::require_lab(packet);
        ++psn;
    }
    EXPECT_EQ(psn, 0x8b456eU);
}

INSTANTIATE_TEST_SUITE_P(All, ForgedChunk,
                         testing::Values(std::pair("192.0.2.2", "192.0.2.1"),
                                         std::pair("2001:db8::2", "2001:db8::1")));

TEST(ForgedChunks, do_not_leave_the_lab) {
    for (const auto& frame : lesson26::forged_chunk(address("192.0.2.2"), address("10.0.0.1"), 1))
        EXPECT_THROW(lesson09::require_lab(wire::decode(frame, wire::LinkType::Ethernet)),
                     util::Error);
}

}  // namespace lesson26_forger_test
