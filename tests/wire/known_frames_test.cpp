// Packets of adapters and of another implementation, from scapy's tests (test/contrib/roce.uts).
// All bytes, including ICRC and checksums, come from these sources.
#include <gtest/gtest.h>

#include "wire/sample_frames.hpp"

namespace known_frames_test {

using wire::IcrcStatus;
using wire_test::from_hex;

TEST(KnownFrames, a_roce_v1_write_and_its_acknowledgement) {
    const auto write_frame = from_hex(
        "7cfe90753cd8 7cfe90753cd8 8915"                       // Ethernet
        "60200000 0028 1b 40"                                  // GRH
        "0000000000000000 0000ffff0f000002"                    // SGID
        "0000000000000000 0000ffff0f000002"                    // DGID
        "0a70ffff 0000010a 80a788bc"                           // BTH
        "000055d4c0726000 000047b3 00000005 0000000001000000"  // RETH, 5 bytes, padding
        "e3d856bb");
    const auto write = wire::decode(write_frame, wire::LinkType::Ethernet);
    ASSERT_TRUE(write.is_complete());
    EXPECT_EQ(write.grh->tclass, 2);
    EXPECT_EQ(text(write.grh->sgid), "::ffff:15.0.0.2");
    EXPECT_EQ(write.opcode->name, "RC RDMA WRITE Only");
    EXPECT_EQ(write.bth->padcnt, 3);
    EXPECT_EQ(write.bth->dest_qpn, 0x10aU);
    EXPECT_TRUE(write.bth->a);
    EXPECT_EQ(write.bth->psn, wire::Psn(0xa788bc));
    EXPECT_EQ(*write.reth, (wire::Reth{.va = 0x55d4c0726000, .rkey = 0x47b3, .dmalen = 5}));
    EXPECT_EQ(write.payload_length, write.reth->dmalen);
    EXPECT_EQ(write.icrc->computed, 0xe3d856bbU);
    EXPECT_EQ(wire::encode(write), write_frame);

    const auto ack_frame = from_hex(
        "7cfe90753cd8 7cfe90753cd8 8915 60200000 0014 1b 40"
        "0000000000000000 0000ffff0f000002 0000000000000000 0000ffff0f000002"
        "1140ffff 00000109 00a788c0 00000005 25f0c038");
    const auto ack = wire::decode(ack_frame, wire::LinkType::Ethernet);
    ASSERT_TRUE(ack.is_complete());
    EXPECT_EQ(*ack.aeth, (wire::Aeth{.syndrome = 0, .msn = 5}));
    EXPECT_FALSE(ack.bth->a);
    EXPECT_EQ(ack.icrc->computed, 0x25f0c038U);
    EXPECT_EQ(wire::encode(ack), ack_frame);
}

TEST(KnownFrames, a_cnp_of_a_connectx_4_lx) {
    const auto frame = from_hex(
        "e41d2dab2bc2 7cfe90643b32 0800"
        "45c2003c 718c4000 40119161 0a001101 0a001201"  // IPv4
        "000012b7 00280000"                             // UDP, without a checksum
        "8100ffff 40000118 00000000"                    // BTH with BECN
        "00000000 00000000 00000000 00000000 82fd002a");
    const auto packet = wire::decode(frame, wire::LinkType::Ethernet);
    ASSERT_TRUE(packet.is_complete()) << packet.malformed->text();
    EXPECT_EQ(packet.opcode->operation, wire::Operation::Cnp);
    EXPECT_TRUE(packet.bth->becn);
    EXPECT_FALSE(packet.bth->fecn);
    EXPECT_EQ(packet.bth->dest_qpn, 0x118U);
    EXPECT_EQ(packet.payload_length, 0U);
    EXPECT_EQ(packet.icrc->computed, 0x82fd002aU);
    EXPECT_EQ(packet.icrc->status, IcrcStatus::Good);
}

wire::Packet uc_send() {
    static const auto payload = from_hex("4630 818b e289 35d9 0e9a 9550 5401 be88 5e50");
    wire::Packet packet;
    packet.udp = wire::Udp{.src_port = 49152};
    packet.bth = wire::Bth{
        .opcode = 0x24, .m = true, .p_key = 0xffff, .dest_qpn = 211, .psn = wire::Psn(13571856)};
    packet.payload = payload;
    return packet;
}

TEST(KnownFrames, a_uc_send_over_ipv4_has_the_published_checksums) {
    wire::Packet packet = uc_send();
    packet.ipv4 = wire::Ipv4{.dsfield = 1,
                             .id = 1144,
                             .df = true,
                             .ttl = 64,
                             .src = {{192, 168, 0, 7}},
                             .dst = {{192, 168, 0, 7}}};
    const auto frame = wire::encode(packet);
    const auto decoded = wire::decode(frame, wire::LinkType::RawIp);
    EXPECT_EQ(decoded.ipv4->total_length, 64);
    EXPECT_EQ(decoded.ipv4->checksum, 0xb4d5);
    EXPECT_EQ(decoded.udp->checksum, 0xaca2);
    EXPECT_EQ(decoded.bth->padcnt, 2);
    EXPECT_EQ(decoded.icrc->value, 0x78f353f3U);
    EXPECT_EQ(decoded.icrc->status, IcrcStatus::Good);
}

TEST(KnownFrames, a_uc_send_over_ipv6_has_the_published_checksum) {
    wire::Packet packet = uc_send();
    packet.ipv6 = wire::Ipv6{.tclass = 226,
                             .flow_label = 0x1face,
                             .hop_limit = 255,
                             .src = {{0x20, 0x22, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x23}},
                             .dst = {{0x20, 0x23, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x24}}};
    const auto frame = wire::encode(packet);
    const auto decoded = wire::decode(frame, wire::LinkType::RawIp);
    EXPECT_EQ(decoded.ipv6->payload_length, 44);
    EXPECT_EQ(decoded.udp->checksum, 0xe7c5);
    EXPECT_EQ(decoded.icrc->value, 0x3e5b743bU);
    EXPECT_EQ(decoded.icrc->status, IcrcStatus::Good);
}

}  // namespace known_frames_test
