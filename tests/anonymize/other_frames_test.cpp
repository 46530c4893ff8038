// What anonymizing makes of RoCE packets in encapsulations and behind other link headers, and of
// packets of other protocols.
#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>

#include <gtest/gtest.h>

#include "anonymize/frame.hpp"
#include "anonymize/frame_result.hpp"
#include "wire/encapsulations.hpp"
#include "wire/icmp.hpp"
#include "wire/infiniband_frames.hpp"
#include "wire/neighbour.hpp"
#include "wire/sample_set.hpp"

namespace other_frames_test {

using namespace anonymize_test;
using anonymize::Anonymizer;
using anonymize::Data;
using wire::LinkType;
using wire_test::from_hex;
using wire_test::joined;

TEST(AnonymousFrame, is_the_innermost_packet_without_encapsulations) {
    const auto inner = frame_of(0x0a);
    for (const auto& encapsulation : wire_test::encapsulations()) {
        if (encapsulation.text.empty())
            continue;
        const Octets frame = encapsulation.wrap(inner);
        Anonymizer anonymizer(Data::Replaced);
        const auto result = anonymized(anonymizer, frame, LinkType::Ethernet, frame.size());
        ASSERT_TRUE(result) << encapsulation.name;
        const auto packet = wire::decode(result->bytes, result->link);
        EXPECT_FALSE(packet.outer);
        EXPECT_EQ(packet.bth, decoded(inner).bth) << encapsulation.name;
        EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Good);
    }
}

TEST(AnonymousFrame, with_a_cooked_header_has_another_address_there) {
    const auto ethernet = frame_of(0x04);
    for (const auto& [link, header, at] :
         {std::tuple(LinkType::LinuxCooked, "0000 0001 0006 248a07010203 0bad 0800", 6U),
          std::tuple(LinkType::LinuxCooked2, "0800 0000 00000002 0001 00 06 248a07010203 0bad",
                     12U)}) {
        const auto sample = wire_test::behind(link, header, ethernet);
        Anonymizer anonymizer(Data::Replaced);
        const auto result = anonymized(anonymizer, sample.bytes, link, sample.bytes.size());
        ASSERT_TRUE(result);
        EXPECT_EQ(Octets(result->bytes.begin() + at, result->bytes.begin() + at + 8),
                  from_hex("020000000001 0000"));
    }
}

// LIDs have no pseudonyms.
TEST(AnonymousFrame, of_native_infiniband_is_left_out) {
    const auto roce = frame_of(0x04);
    const auto native = wire_test::native_packet(wire_test::transport_of(decoded(roce), roce));
    ASSERT_TRUE(wire::decode(native, LinkType::Infiniband).bth);
    Anonymizer anonymizer(Data::Replaced);
    EXPECT_FALSE(anonymized(anonymizer, native, LinkType::Infiniband, native.size()));
}

TEST(AnonymousFrame, of_other_protocols_is_none) {
    Anonymizer anonymizer(Data::Replaced);
    for (const char* rest :
         {"88cc 0207",
          "0800 45000028 00010000 40060000 c0000202 c0000201 b26e 4853 0001 0002 5018 0100",
          "0800 4500001c 00010000 40110000 c0000202 c0000201 b26e 0035 0008 0000",
          "0800 4500001c 00010010 40110000 c0000202 c0000201 b26e 12b7 0008 0000",
          "0800 45000014 00010000 40010000 c0000202 c0000201 0b00 0000 0000 0000"}) {
        const Octets frame = joined("020000000001 020000000002", from_hex(rest));
        EXPECT_FALSE(anonymized(anonymizer, frame, LinkType::Ethernet, frame.size())) << rest;
    }
}

TEST(AnonymousFrame, of_pause_keeps_its_times) {
    const auto frame = joined("0180c2000001 248a07010203", from_hex("8808 0001 ffff 0badcafe"));
    EXPECT_EQ(result_of(frame),
              joined("0180c2000001 020000000001", from_hex("8808 0001 ffff 00000000")));
}

TEST(AnonymousFrame, of_arp_asks_for_the_same_host) {
    const auto frame =
        joined("ffffffffffff 248a07010203",
               from_hex("0806 0001 0800 0604 0001 248a07010203 0a141e28 000000000000 0a141e32"
                        "0badcafe"));
    EXPECT_EQ(result_of(frame),
              joined("ffffffffffff 020000000001",
                     from_hex("0806 0001 0800 0604 0001 020000000001 c0000201 000000000000 "
                              "c0000202 00000000")));
}

// fd01::a0b:c0d asks for fd01::102:304 with its Ethernet address and a nonce.
TEST(AnonymousFrame, of_neighbour_discovery_goes_to_the_group_of_its_target) {
    Octets message = from_hex(
        "8700 0000 00000000 fd010000000000000000000001020304 0101 248a07010203 0e01 0badcafe0bad");
    Octets ip = from_hex(
        "60000000 0028 3a ff fd01000000000000000000000a0b0c0d ff0200000000000000000001ff020304");
    const std::uint64_t sum = wire::ones_sum(util::Bytes(ip).subspan(8)) + 58 + message.size();
    wire_test::put16(message, 2, wire::internet_checksum(sum + wire::ones_sum(message)));
    const auto frame = joined(joined("3333ff020304 248a07010203 86dd", ip), message);
    const Octets result = result_of(frame);
    const auto packet = decoded(result);
    EXPECT_EQ(text(packet.ethernet->dst), "33:33:ff:00:00:03");
    EXPECT_EQ(text(packet.ethernet->src), "02:00:00:00:00:01");
    EXPECT_EQ(text(packet.ipv6->src), "2001:db8::1");
    EXPECT_EQ(text(packet.ipv6->dst), "ff02::1:ff00:3");
    EXPECT_EQ(wire::neighbour(packet, result)->text(), "NDP who has 2001:db8::3? Tell 2001:db8::1");
    EXPECT_EQ(Octets(result.end() - 16, result.end()),
              from_hex("0101 020000000001 0e01 000000000000"));
    const util::Bytes after = util::Bytes(result).subspan(54);
    EXPECT_EQ(wire::internet_checksum(wire::ones_sum(util::Bytes(result).subspan(22, 32)) + 58 +
                                      after.size() + wire::ones_sum(after)),
              0);
}

Octets icmp_error_about(const Octets& frame, std::size_t count) {
    auto message = joined("0304 0000 000005dc", wire_test::packet_of(frame).first(count));
    wire_test::put16(message, 2, wire::internet_checksum(wire::ones_sum(message)));
    return wire_test::in_ethernet_ipv4(1, message);
}

TEST(AnonymousFrame, of_icmp_quotes_the_same_packet) {
    const auto request = frame_of(0x06);
    for (const std::size_t count : {28U, 40U, 56U, 60U, 124U}) {
        Anonymizer anonymizer(Data::Replaced);
        const auto error = icmp_error_about(request, std::min(count, request.size() - 14));
        const Octets of_request = result_of(anonymizer, request);
        const Octets result = result_of(anonymizer, error);
        const auto packet = decoded(result);
        const auto found = wire::icmp_error(packet, result);
        ASSERT_TRUE(found) << count;
        EXPECT_EQ(found->quoted.ipv4->src, decoded(of_request).ipv4->src);
        EXPECT_EQ(found->quoted.bth, wire::icmp_error(decoded(error), error)->quoted.bth);
        EXPECT_EQ(found->mtu, 1500U);
        const util::Bytes message = util::Bytes(result).subspan(34);
        EXPECT_EQ(wire::internet_checksum(wire::ones_sum(message)), 0);
        EXPECT_EQ(wire::internet_checksum(wire::ones_sum(message.subspan(8, 20))), 0);
        expect_gone(result, std::array<std::uint8_t, 4>{0xde, 0xad, 0xbe, 0xef});
        expect_gone(result, std::array<std::uint8_t, 3>{10, 9, 0});
    }
}

// The sum of a cut message cannot be computed, and the old one depends on the addresses.
TEST(AnonymousFrame, of_icmp_that_is_cut_has_no_checksum) {
    const auto error = icmp_error_about(frame_of(0x06), 60);
    ASSERT_NE(util::be16<0>(util::Bytes(error).subspan(36).first<2>()), 0);
    Anonymizer anonymizer(Data::Replaced);
    const auto cut = anonymized(anonymizer, util::Bytes(error).first(error.size() - 2),
                                LinkType::Ethernet, error.size());
    ASSERT_TRUE(cut);
    EXPECT_EQ(util::be16<0>(util::Bytes(cut->bytes).subspan(36).first<2>()), 0);
}

}  // namespace other_frames_test
