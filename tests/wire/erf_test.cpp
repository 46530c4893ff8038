// ERF records: what capture cards of Endace and ibdump put before a frame.
#include "wire/erf.hpp"

#include <gtest/gtest.h>

#include "wire/infiniband_frames.hpp"
#include "wire/packet_invariants.hpp"

namespace erf_test {

using wire::LinkType;
using wire::NotRoce;
using wire_test::erf_record;
using wire_test::from_hex;

wire::Packet decoded(util::Bytes record) {
    const auto packet = wire::decode(record, LinkType::Erf);
    EXPECT_EQ(wire_test::broken_invariant(packet, record), "");
    return packet;
}

std::vector<std::byte> sample() {
    return wire_test::native_sample(*wire::find_opcode(0x04), false);
}

TEST(ErfRecord, an_infiniband_packet_is_inside) {
    const auto record = erf_record(21, sample());
    const auto packet = decoded(record);
    ASSERT_TRUE(packet.is_complete());
    EXPECT_EQ(*packet.erf, (wire::Erf{.type = 21, .flags = 4, .rlen = 64, .lctr = 7, .wlen = 46}));
    EXPECT_EQ(packet.lrh->dlid, 0x45);
    EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Good);
    EXPECT_EQ(packet.vcrc->status(), wire::IcrcStatus::Good);
}

// ibdump's records are not padded.
TEST(ErfRecord, padding_is_not_a_part_of_the_packet) {
    auto record = erf_record(21, sample());
    record.resize(16 + sample().size());
    EXPECT_TRUE(decoded(record).vcrc);
    auto short_by_vcrc = sample();
    short_by_vcrc.resize(short_by_vcrc.size() - 2);
    EXPECT_FALSE(decoded(erf_record(21, short_by_vcrc)).vcrc);
}

TEST(ErfRecord, extension_headers_are_skipped) {
    const auto two = from_hex("8300000000000001 0300000000000002");
    const auto packet = decoded(erf_record(0x95, sample(), two));
    ASSERT_TRUE(packet.is_complete());
    EXPECT_TRUE(packet.erf->has_extension);
    EXPECT_EQ(packet.erf->type, 21);
    EXPECT_EQ(packet.trail.find(wire::Header::Erf).size(), 32U);
    const auto endless = erf_record(0x95, from_hex("80"), from_hex("8000000000000000"));
    EXPECT_EQ(decoded(endless).malformed->text(), "ERF extension header needs 8 bytes, 0 left");
}

TEST(ErfRecord, an_ethernet_frame_follows_two_more_bytes) {
    const auto roce = wire::encode(
        wire_test::sample_packet(*wire::find_opcode(0x04), wire_test::Network::Ipv4, 20));
    for (const unsigned type : {2U, 11U, 16U, 20U}) {
        const auto record = erf_record(static_cast<std::uint8_t>(type), roce, from_hex("0000"));
        const auto packet = decoded(record);
        ASSERT_TRUE(packet.is_complete());
        EXPECT_TRUE(packet.ethernet);
        EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Good);
    }
}

TEST(ErfRecord, ip_packets_follow_at_once) {
    const auto roce = wire::encode(
        wire_test::sample_packet(*wire::find_opcode(0x04), wire_test::Network::Ipv6, 20));
    const auto record = erf_record(23, util::Bytes(roce).subspan(wire::Ethernet::size));
    EXPECT_TRUE(decoded(record).is_complete());
}

TEST(ErfRecord, other_types_are_named) {
    EXPECT_EQ(decoded(erf_record(25, from_hex("0000000000000000"))).not_roce,
              NotRoce::InfinibandLink);
    EXPECT_EQ(decoded(erf_record(24, from_hex("00"))).not_roce, NotRoce::OtherErf);
}

TEST(ErfRecord, a_cut_record_says_so) {
    EXPECT_EQ(decoded(from_hex("00")).malformed->text(), "ERF header needs 16 bytes, 1 left");
    const auto record = erf_record(21, sample());
    for (std::size_t size = 0; size < record.size(); ++size) {
        const wire_test::ExactCopy cut(util::Bytes(record).first(size));
        const auto packet = wire::decode(cut, LinkType::Erf, record.size());
        EXPECT_EQ(wire_test::broken_invariant(packet, cut), "");
        EXPECT_TRUE(packet.truncated || size >= 16 + sample().size() - 2) << size;
    }
}

}  // namespace erf_test
