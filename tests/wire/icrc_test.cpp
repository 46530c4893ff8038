// The fields that the ICRC covers. known_frames_test.cpp tests its value for known packets.
#include "wire/icrc.hpp"

#include <gtest/gtest.h>

#include "wire/sample_frames.hpp"

namespace icrc_test {

using wire::IcrcStatus;
using wire_test::Network;

IcrcStatus status_of(const std::vector<std::byte>& frame) {
    const auto packet = wire::decode(frame, wire::LinkType::Ethernet);
    return packet.icrc ? packet.icrc->status : IcrcStatus::Unchecked;
}

constexpr std::size_t ethernet = 14;
constexpr std::size_t ipv4_udp = 28;
constexpr std::size_t ipv6_udp = 48;

// `free_bytes`: bytes that a router may change, counted from the IP header or GRH.
struct Variant {
    Network network;
    std::vector<std::size_t> free_bytes;
    std::size_t bth;
};

const std::vector<Variant>& variants() {
    static const std::vector<Variant> all{
        {Network::Ipv4, {1, 8, 10, 11, 26, 27}, ipv4_udp},
        // Bytes 0 to 3 are traffic class and flow label. The test does not change the version (bits
        // 7:4 of byte 0).
        {Network::Ipv6, {0, 1, 2, 3, 7, 46, 47}, ipv6_udp},
        {Network::Grh, {0, 1, 2, 3, 7}, 40},
    };
    return all;
}

TEST(Icrc, what_a_router_may_change_is_not_covered_and_all_else_is) {
    for (const Variant& variant : variants()) {
        const auto frame =
            wire::encode(wire_test::sample_packet(*wire::find_opcode(0x04), variant.network, 8));
        ASSERT_EQ(status_of(frame), IcrcStatus::Good);
        for (std::size_t at = 0; at + ethernet < frame.size(); ++at) {
            auto changed = frame;
            changed[ethernet + at] ^= std::byte{0x01};
            const bool is_free =
                std::ranges::count(variant.free_bytes, at) != 0 || at == variant.bth + 4;
            const auto packet = wire::decode(changed, wire::LinkType::Ethernet);
            // With another length, version or port, the packet is malformed or not RoCE.
            const bool is_good = status_of(changed) == IcrcStatus::Good && !packet.malformed;
            EXPECT_EQ(is_good, is_free) << "byte " << at;
        }
    }
}

TEST(Icrc, a_vlan_tag_changes_nothing) {
    auto packet = wire_test::sample_packet(*wire::find_opcode(0x0a), Network::Ipv4, 5);
    const auto plain = wire::decode(wire::encode(packet), wire::LinkType::Ethernet).icrc->value;
    packet.vlans.count = 1;
    const auto tagged = wire::encode(packet);
    const auto decoded = wire::decode(tagged, wire::LinkType::Ethernet);
    EXPECT_EQ(decoded.icrc->status, IcrcStatus::Good);
    EXPECT_EQ(decoded.icrc->value, plain);
}

TEST(Icrc, a_bad_one_says_what_it_should_be) {
    auto frame = wire::encode(wire_test::sample_packet(*wire::find_opcode(0x04), Network::Ipv4, 4));
    frame.back() ^= std::byte{0xff};
    const auto icrc = wire::decode(frame, wire::LinkType::Ethernet).icrc;
    EXPECT_EQ(icrc->status, IcrcStatus::Bad);
    EXPECT_EQ(*icrc->value ^ *icrc->computed, 0xffU);
}

TEST(Icrc, a_cut_packet_is_unchecked_and_says_why) {
    const auto frame =
        wire::encode(wire_test::sample_packet(*wire::find_opcode(0x04), Network::Ipv4, 64));
    const auto icrc = wire::decode(util::Bytes(frame).first(frame.size() - 1),
                                   wire::LinkType::Ethernet, frame.size())
                          .icrc;
    ASSERT_TRUE(icrc);
    EXPECT_EQ(icrc->status, IcrcStatus::Unchecked);
    EXPECT_FALSE(icrc->value);
    EXPECT_EQ(icrc->reason, "truncated by snap length");
}

TEST(Icrc, that_is_not_asked_for_is_left_unchecked_with_its_value) {
    const auto packet =
        wire_test::sample_packet(*wire::find_opcode(0x0a), wire_test::Network::Ipv4, 7);
    auto frame = wire::encode(packet);
    frame.back() ^= std::byte{1};
    const auto skipped =
        wire::decode(frame, wire::LinkType::Ethernet, frame.size(), wire::IcrcCheck::Skip);
    ASSERT_TRUE(skipped.icrc);
    EXPECT_EQ(skipped.icrc->status, wire::IcrcStatus::Unchecked);
    EXPECT_EQ(skipped.icrc->reason, "not computed");
    EXPECT_EQ(skipped.icrc->computed, std::nullopt);
    EXPECT_EQ(skipped.icrc->value, wire::decode(frame, wire::LinkType::Ethernet).icrc->value);
    EXPECT_TRUE(skipped.is_complete());
}

}  // namespace icrc_test
