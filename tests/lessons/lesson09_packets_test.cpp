// Forged packets: the intended fields are changed, the others are those of the captured packet, and
// the ICRC is valid.
#include <gtest/gtest.h>

#include "examples/09_forged_packets/packets.hpp"
#include "wire/encode.hpp"

namespace lesson09_packets_test {

constexpr wire::Ipv4Address client{{192, 0, 2, 2}};
constexpr wire::Ipv4Address server{{192, 0, 2, 1}};
const std::vector<std::byte> honest(8, std::byte{'h'});
const std::vector<std::byte> forged(6, std::byte{'f'});

lesson09::CapturedFrame seen_write() {
    wire::Packet packet;
    packet.ethernet = wire::Ethernet{.dst = {{2, 0, 0, 0, 0, 1}}, .src = {{2, 0, 0, 0, 0, 2}}};
    packet.ipv4.emplace();
    packet.ipv4->id = 0x1234;
    packet.ipv4->src = client;
    packet.ipv4->dst = server;
    packet.udp.emplace();
    packet.udp->src_port = 50'000;
    packet.bth.emplace();
    packet.bth->opcode = 0x0a;
    packet.bth->p_key = 0xffff;
    packet.bth->dest_qpn = 0x11;
    packet.bth->a = true;
    packet.bth->psn = wire::Psn(0xffffff);
    packet.reth = wire::Reth{.va = 0x7f0000001000, .rkey = 0x2f6, .dmalen = 8};
    packet.payload = honest;
    return {wire::encode(packet)};
}

TEST(Packets, a_write_like_the_one_seen_differs_in_psn_length_payload_and_ttl) {
    const lesson09::CapturedFrame seen = seen_write();
    const auto frame = lesson09::write_like(seen, seen.packet().bth->psn + 1, forged);
    wire::Packet packet = wire::decode(frame, wire::LinkType::Ethernet);
    ASSERT_TRUE(packet.is_complete());
    EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Good);
    EXPECT_EQ(packet.bth->psn, wire::Psn(0));
    EXPECT_EQ(packet.reth->dmalen, 6U);
    EXPECT_EQ(packet.bth->padcnt, 2U);
    EXPECT_EQ(packet.ipv4->ttl, 1U);
    EXPECT_TRUE(std::ranges::equal(packet.payload, forged));
    // All other fields.
    const wire::Packet before = seen.packet();
    EXPECT_EQ(packet.ethernet, before.ethernet);
    EXPECT_EQ(packet.ipv4->src, client);
    EXPECT_EQ(packet.ipv4->id, before.ipv4->id);
    EXPECT_EQ(packet.udp->src_port, before.udp->src_port);
    EXPECT_EQ(packet.reth->rkey, before.reth->rkey);
    EXPECT_EQ(packet.reth->va, before.reth->va);
    EXPECT_EQ(packet.bth->dest_qpn, before.bth->dest_qpn);
    EXPECT_EQ(packet.bth->a, before.bth->a);
}

TEST(Packets, an_answer_goes_back_where_the_request_came_from) {
    const lesson09::CapturedFrame seen = seen_write();
    const auto frame =
        lesson09::acknowledge_of(seen, 0x22, wire::Psn(7), lesson09::syndrome::remote_access_error);
    const wire::Packet packet = wire::decode(frame, wire::LinkType::Ethernet);
    ASSERT_TRUE(packet.is_complete());
    EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Good);
    EXPECT_EQ(packet.opcode->name, "RC Acknowledge");
    EXPECT_EQ(packet.ipv4->src, server);
    EXPECT_EQ(packet.ipv4->dst, client);
    EXPECT_EQ(packet.ethernet->dst, seen.packet().ethernet->src);
    EXPECT_EQ(packet.bth->dest_qpn, 0x22U);
    EXPECT_EQ(packet.bth->psn, wire::Psn(7));
    EXPECT_FALSE(packet.bth->a);
    EXPECT_EQ(packet.aeth->nak_name(), "Remote Access Error");
    EXPECT_FALSE(packet.reth);
    EXPECT_TRUE(packet.payload.empty());
}

TEST(Packets, say_whose_they_are) {
    EXPECT_EQ(text(lesson09::source_gid(seen_write().packet())), "::ffff:192.0.2.2");
    wire::Packet packet;
    EXPECT_EQ(lesson09::source_gid(packet), wire::Gid{});
    packet.ipv6.emplace();
    packet.ipv6->src.bytes.back() = 7;
    EXPECT_EQ(text(lesson09::source_gid(packet)), "::7");
}

TEST(Packets, a_read_response_carries_what_its_maker_likes) {
    const auto frame = lesson09::read_response_of(seen_write(), 0x22, wire::Psn(7), forged);
    const wire::Packet packet = wire::decode(frame, wire::LinkType::Ethernet);
    ASSERT_TRUE(packet.is_complete());
    EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Good);
    EXPECT_EQ(packet.opcode->name, "RC RDMA READ response Only");
    EXPECT_EQ(packet.aeth->kind(), wire::AethKind::Ack);
    EXPECT_TRUE(std::ranges::equal(packet.payload, forged));
}

TEST(Packets, an_answer_is_shorter_than_a_write) {
    const lesson09::CapturedFrame seen = seen_write();
    const std::vector<std::byte> message(64);
    // Ethernet, IPv4, UDP, BTH; RETH or AETH; payload; ICRC.
    constexpr std::size_t common = 14 + 20 + 8 + 12 + 4;
    EXPECT_EQ(lesson09::write_like(seen, wire::Psn(7), message).size(), common + 16 + 64);
    EXPECT_EQ(lesson09::acknowledge_of(seen, 0x22, wire::Psn(7), lesson09::syndrome::ack).size(),
              common + 4);
    EXPECT_EQ(lesson09::read_response_of(seen, 0x22, wire::Psn(7), message).size(),
              common + 4 + 64);
}

}  // namespace lesson09_packets_test
