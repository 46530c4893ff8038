// Native InfiniBand: the LRH, both CRCs, raw and link packets.
#include "wire/infiniband.hpp"

#include <gtest/gtest.h>

#include "wire/infiniband_frames.hpp"
#include "wire/packet_invariants.hpp"

namespace infiniband_test {

using wire::IcrcStatus;
using wire::LinkType;
using wire::NotRoce;
using wire_test::from_hex;

wire::Packet decoded(util::Bytes frame) {
    return wire::decode(frame, LinkType::Infiniband);
}

// A test packet of Mellanox's packet generator MPGA (2004), with the ICRC that it has there. The VCRC
// is that of MPGA's algorithm: CRC-16 0x100b, seed 0xffff, complemented.
const auto published = from_hex(
    "7012375c 000e17d2"                           // LRH
    "0a202487 0087b1b3 000dec2a"                  // BTH
    "01710a1c015d4002 38f27a05 0000000e"          // RETH
    "bb884d85fd5cfba4728bc0690ed40000 9625b75a "  // payload, padding, ICRC
    "45fa");

TEST(Infiniband, the_published_packet_has_its_icrc) {
    const auto packet = decoded(published);
    ASSERT_TRUE(packet.is_complete());
    EXPECT_EQ(*packet.lrh, (wire::Lrh{.vl = 7,
                                      .lver = 0,
                                      .sl = 1,
                                      .lnh = wire::link_next_header::local,
                                      .dlid = 0x375c,
                                      .pktlen = 14,
                                      .slid = 0x17d2}));
    EXPECT_EQ(packet.opcode->name, "RC RDMA WRITE Only");
    EXPECT_EQ(packet.bth->dest_qpn, 0x87b1b3U);
    EXPECT_EQ(packet.reth->dmalen, 14U);
    EXPECT_EQ(packet.payload_length, 14U);
    EXPECT_EQ(packet.icrc->computed, 0x9625b75aU);
    EXPECT_EQ(packet.icrc->status, IcrcStatus::Good);
    EXPECT_EQ(packet.vcrc->computed, 0x45fa);
    EXPECT_EQ(packet.vcrc->status(), IcrcStatus::Good);
}

TEST(Infiniband, the_lrh_is_written_as_it_was_read) {
    const auto bytes = util::Bytes(published).first<wire::Lrh::size>();
    std::array<std::byte, wire::Lrh::size> out{};
    wire::write(wire::parse<wire::Lrh>(bytes), out);
    EXPECT_TRUE(std::ranges::equal(out, bytes));
}

TEST(Infiniband, every_opcode_decodes_with_and_without_a_grh) {
    for (const wire::OpcodeInfo& opcode : wire_test::all_opcodes())
        for (const bool has_grh : {false, true}) {
            SCOPED_TRACE(opcode.name);
            const auto frame = wire_test::native_sample(opcode, has_grh);
            const auto packet = decoded(frame);
            ASSERT_TRUE(packet.is_complete()) << packet.malformed->text();
            EXPECT_EQ(packet.opcode->name, opcode.name);
            EXPECT_EQ(packet.grh.has_value(), has_grh);
            EXPECT_EQ(packet.lrh->slid, 0x123);
            EXPECT_EQ(packet.icrc->status, IcrcStatus::Good);
            EXPECT_EQ(packet.vcrc->status(), IcrcStatus::Good);
            EXPECT_EQ(wire_test::broken_invariant(packet, frame), "");
        }
}

// IBTA volume 1, 7.8.1: switches may change the virtual lane and the BTH's reserved byte, routers
// the whole LRH and three fields of the GRH.
TEST(Infiniband, the_icrc_does_not_cover_what_switches_and_routers_change) {
    const auto& opcode = *wire::find_opcode(0x0a);
    for (const bool has_grh : {false, true}) {
        const auto good = wire_test::native_sample(opcode, has_grh);
        const std::size_t bth = has_grh ? 48 : 8;
        for (std::size_t at = 0; at + 6 < good.size(); ++at) {
            SCOPED_TRACE(at);
            const bool is_length = at == 4 || at == 5;
            const bool is_kind = at == 1 || (at == 8 && has_grh) || (at == 14 && has_grh);
            const bool is_grh_length = has_grh && (at == 12 || at == 13);
            if (is_length || is_kind || is_grh_length || at == bth || at == bth + 1)
                continue;
            auto changed = good;
            changed[at] ^= at == 0 ? std::byte{0x10} : std::byte{0x01};
            const bool is_masked = at == bth + 4 || at == 0 ||
                                   (has_grh && (at < 8 || (at > 8 && at < 12) || at == 15));
            const auto packet = decoded(changed);
            ASSERT_TRUE(packet.icrc);
            EXPECT_EQ(packet.icrc->status, is_masked ? IcrcStatus::Good : IcrcStatus::Bad);
            EXPECT_EQ(packet.vcrc->status(), IcrcStatus::Bad);
        }
    }
}

TEST(Infiniband, without_a_vcrc_a_packet_is_complete) {
    auto frame = published;
    frame.resize(frame.size() - 2);
    const auto packet = decoded(frame);
    EXPECT_TRUE(packet.is_complete());
    EXPECT_FALSE(packet.vcrc);
    EXPECT_EQ(packet.icrc->status, IcrcStatus::Good);
}

TEST(Infiniband, the_crcs_are_not_computed_if_not_wanted) {
    const auto packet =
        wire::decode(published, LinkType::Infiniband, published.size(), wire::IcrcCheck::Skip);
    EXPECT_EQ(packet.icrc->status, IcrcStatus::Unchecked);
    EXPECT_EQ(packet.vcrc->value, 0x45fa);
    EXPECT_EQ(packet.vcrc->status(), IcrcStatus::Unchecked);
}

TEST(Infiniband, raw_packets_are_named) {
    const auto ether = decoded(from_hex("0000 0005 0006 0001 00000800 00000000 00000000 00000000"));
    EXPECT_EQ(ether.not_roce, NotRoce::RawInfiniband);
    EXPECT_EQ(ether.rwh->etype, 0x0800);
    EXPECT_FALSE(ether.bth);
    const auto ipv6 = decoded(from_hex("0001 0005 0003 0001 60000000 0000"));
    EXPECT_EQ(ipv6.not_roce, NotRoce::RawInfiniband);
    EXPECT_EQ(ipv6.vcrc->value, 0);
}

TEST(Infiniband, faults_of_the_lrh_are_reported) {
    const auto fault = [](std::string_view hex) {
        const auto frame = from_hex(hex);
        const auto packet = decoded(frame);
        EXPECT_EQ(wire_test::broken_invariant(packet, frame), "");
        return packet.malformed ? packet.malformed->text() : "";
    };
    EXPECT_EQ(fault("0002 0001 0001 0002"), "LRH length is 4, below the 8 bytes of its own header");
    EXPECT_EQ(fault("0002 00"), "LRH needs 8 bytes, 3 left");
    EXPECT_EQ(fault("0002 0001 0004 0002 0a202487 0087b1b3"), "BTH needs 12 bytes, 8 left");
    EXPECT_EQ(fault("0002 0001 0005 0002 64000000 00000001 00000000"),
              "DETH needs 8 bytes, 0 left");
    auto version = published;
    version[0] |= std::byte{1};
    EXPECT_EQ(decoded(version).malformed->text(), "LRH link version is 1, not 0");
    EXPECT_TRUE(decoded(version).bth);
}

TEST(Infiniband, a_grh_that_contradicts_the_lrh_is_reported) {
    auto frame = wire_test::native_sample(*wire::find_opcode(0x04), true);
    frame[13] ^= std::byte{4};
    const auto packet = decoded(frame);
    ASSERT_TRUE(packet.malformed);
    EXPECT_EQ(packet.malformed->text(), "GRH payload length is 32, but the LRH leaves 36 bytes");
    EXPECT_EQ(packet.payload_length, 20U);
}

TEST(Infiniband, a_cut_packet_says_what_cut_it) {
    const auto packet =
        wire::decode(util::Bytes(published).first(30), LinkType::Infiniband, published.size());
    EXPECT_EQ(packet.truncated->text(), "truncated by snap length: RETH needs 16 bytes, 10 left");
    const auto sliced = decoded(util::Bytes(published).first(40));
    EXPECT_EQ(sliced.truncated->text(),
              "truncated before the capture: payload needs 14 bytes, 4 left");
}

TEST(Infiniband, any_bytes_decode_without_harm) {
    for (const wire::OpcodeInfo& opcode : wire_test::all_opcodes())
        for (const bool has_grh : {false, true}) {
            const auto frame = wire_test::native_sample(opcode, has_grh, 7);
            for (std::size_t size = 0; size <= frame.size(); ++size)
                for (const std::size_t original : {size, frame.size()}) {
                    const wire_test::ExactCopy cut(util::Bytes(frame).first(size));
                    const auto packet = wire::decode(cut, LinkType::Infiniband, original);
                    ASSERT_EQ(wire_test::broken_invariant(packet, cut), "")
                        << opcode.name << ", " << size << " bytes";
                }
            for (std::size_t bit = 0; bit < 8 * frame.size(); ++bit) {
                auto changed = frame;
                changed[bit / 8] ^= std::byte(1U << bit % 8);
                const wire_test::ExactCopy copy(changed);
                const auto packet = decoded(copy);
                ASSERT_EQ(wire_test::broken_invariant(packet, copy), "")
                    << opcode.name << ", bit " << bit;
            }
        }
}

}  // namespace infiniband_test
