// Cases of the decoder and of the checksum that no sample reaches.
#include <gtest/gtest.h>

#include "wire/icrc.hpp"
#include "wire/outer_packets.hpp"

namespace damage_details_test {

using outer_test::decode;
using wire_test::from_hex;
using wire_test::in_ethernet;
using wire_test::in_ethernet_ipv4;
using wire_test::in_udp;
using wire_test::joined;
using wire_test::Octets;

constexpr std::uint8_t gre = 47;
constexpr std::uint8_t udp = 17;

// RFC 1071: an odd byte at the end counts as if a zero byte followed.
TEST(Checksum, an_odd_last_byte_is_padded_with_zero) {
    EXPECT_EQ(wire::ones_sum(from_hex("0001 f203 f4f5 f6f7")), 0x2ddf0U);
    EXPECT_EQ(wire::ones_sum(from_hex("0001 f2")), 0x0001U + 0xf200U);
    EXPECT_EQ(wire::ones_sum(from_hex("ff")), 0xff00U);
    EXPECT_EQ(wire::ones_sum({}), 0U);
    EXPECT_EQ(wire::internet_checksum(wire::ones_sum(from_hex("0001 f203 f4f5 f6f7"))), 0x220d);
}

TEST(Icrc, needs_all_headers_up_to_the_bth) {
    const Octets bytes(72);
    const auto has = [&](wire::IcrcLayout layout, std::size_t size) {
        return wire::compute_icrc(layout, util::Bytes(bytes).first(size)).has_value();
    };
    EXPECT_FALSE(has(wire::IcrcLayout::Ipv4Udp, 20 + 8 + 12 - 1));
    EXPECT_TRUE(has(wire::IcrcLayout::Ipv4Udp, 20 + 8 + 12));
    EXPECT_FALSE(has(wire::IcrcLayout::Ipv6Udp, 40 + 8 + 12 - 1));
    EXPECT_TRUE(has(wire::IcrcLayout::Ipv6Udp, 40 + 8 + 12));
    EXPECT_FALSE(has(wire::IcrcLayout::Grh, 40 + 12 - 1));
    EXPECT_TRUE(has(wire::IcrcLayout::Grh, 40 + 12));
}

TEST(Icrc, each_status_has_a_name) {
    EXPECT_EQ(wire::name(wire::IcrcStatus::Good), "good");
    EXPECT_EQ(wire::name(wire::IcrcStatus::Bad), "bad");
    EXPECT_EQ(wire::name(wire::IcrcStatus::Unchecked), "unchecked");
}

// IEEE 802.1Q, annex 31: PAUSE has two bytes after its opcode, PFC eighteen.
TEST(MacControl, a_cut_frame_is_not_a_pause) {
    const auto control = [](const std::string& hex) {
        return decode(in_ethernet("8808", from_hex(hex)));
    };
    const std::string classes = "0008 0000 0000 0000 ffff 0000 0000 0000 00";
    EXPECT_TRUE(control("01").malformed);
    EXPECT_EQ(control("0001 ff").malformed->text(), "PAUSE needs 2 bytes, 1 left");
    EXPECT_FALSE(control("0001 ff").not_roce);
    EXPECT_EQ(control("0101" + classes).malformed->text(), "PFC needs 18 bytes, 17 left");
    EXPECT_FALSE(control("0101" + classes).not_roce);
    EXPECT_FALSE(control("0101" + classes + "00").malformed);
}

// 3GPP TS 29.281, 5.2.1: the length of an extension header is in units of four bytes and not 0.
TEST(Gtp, an_extension_header_without_a_length_ends_the_decoding) {
    const auto extended = [](const std::string& units) {
        const auto whole = outer_test::sample();
        return decode(in_ethernet_ipv4(
            udp, in_udp(2152, wire_test::in_gtp("34", "0000 00 85" + units + "1009 00",
                                                wire_test::packet_of(whole)))));
    };
    EXPECT_TRUE(extended("01").is_roce());
    // The port may belong to another program, so nothing is malformed.
    const auto packet = extended("00");
    EXPECT_EQ(packet.not_roce, wire::NotRoce::OtherUdpPort);
    EXPECT_FALSE(packet.bth);
}

// 3GPP TS 29.281, 5.1: the length is that of what follows the first eight bytes.
TEST(Gtp, a_length_that_ends_within_the_packet_cuts_it) {
    auto message = wire_test::in_gtp("30", "", wire_test::packet_of(outer_test::sample()));
    const auto decoded = [&] { return decode(in_ethernet_ipv4(udp, in_udp(2152, message))); };
    EXPECT_FALSE(decoded().truncated);
    wire_test::put16(message, 2, message.size() - 8 - 1);
    EXPECT_TRUE(decoded().truncated);
}

// draft-foschiano-erspan-03, 4.3: frame types 0 (Ethernet) and 2 (IP) are defined.
TEST(Erspan, version_3_names_the_type_of_the_mirrored_frame) {
    const auto whole = outer_test::sample();
    const auto mirrored = [&](std::string_view word, util::Bytes inner) {
        return decode(in_ethernet_ipv4(
            gre, joined("1000 22eb 00000001 2000 0007 00000000 0000" + std::string(word), inner)));
    };
    EXPECT_TRUE(mirrored("0000", whole).is_roce());
    EXPECT_TRUE(mirrored("0800", util::Bytes(whole).subspan(14)).is_roce());
    for (const std::string_view other : {"0400", "0c00"}) {
        const auto packet = mirrored(other, whole);
        EXPECT_EQ(packet.not_roce, wire::NotRoce::Encapsulation) << other;
        EXPECT_FALSE(packet.bth);
    }
}

}  // namespace damage_details_test
