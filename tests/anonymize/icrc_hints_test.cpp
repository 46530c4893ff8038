// The hint of a wrong ICRC stays: a packet has the same mistake again.
#include <algorithm>
#include <array>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "anonymize/frame.hpp"
#include "anonymize/frame_result.hpp"
#include "wire/masked_icrc.hpp"
#include "wire/reseal.hpp"
#include "wire/roce_flows.hpp"

namespace icrc_hints_test {

using namespace anonymize_test;
using anonymize::Anonymizer;
using anonymize::Data;
using wire::Header;
using wire::LinkType;

// With the same mistake again, the flow's later packets have the same hint.
std::string hint_of(wire::RoceFlows& flows, const Octets& frame) {
    const auto packet = flows.decode(frame, LinkType::Ethernet, frame.size());
    return packet.icrc && packet.icrc->hint != nullptr ? packet.icrc->hint->text() : "none";
}

// `known`: an earlier packet of the capture.
void expect_hint(const Octets& known, const Octets& frame, const std::string& before,
                 const std::string& after) {
    wire::RoceFlows flows;
    wire::RoceFlows later;
    Anonymizer anonymizer(Data::Replaced);
    for (const Octets& one : {known, frame}) {
        const auto packet = flows.decode(one, LinkType::Ethernet, one.size());
        const auto result = anonymizer.frame(packet, one, LinkType::Ethernet);
        ASSERT_TRUE(result);
        const Octets bytes(result->bytes.begin(), result->bytes.end());
        if (one == frame) {
            EXPECT_EQ(packet.icrc->hint != nullptr ? packet.icrc->hint->text() : "none", before);
            EXPECT_EQ(hint_of(later, bytes), after);
        } else {
            EXPECT_EQ(hint_of(later, bytes), "none");
        }
    }
}

void expect_hint(const Octets& frame, const std::string& before, const std::string& after) {
    expect_hint(frame_of(0x04, Network::Ipv4, 5), frame, before, after);
}

void put_icrc(Octets& frame, std::uint32_t icrc, std::size_t early = 0) {
    util::put_be32<0>(std::span(frame).subspan(frame.size() - 4 - early).first<4>(), icrc);
}

// What translates an address changes its last byte here.
TEST(AnonymousFrame, has_the_hint_of_a_translated_address) {
    const std::string source = "right with source address ";
    const std::string destination = "right with destination address ";
    const auto expect_translated = [&](Network network, std::size_t ends, std::size_t size,
                                       const std::array<std::string, 4>& addresses) {
        const Octets known = frame_of(0x04, network, 5);
        const auto icrc = *decoded(known).icrc->value;
        auto from_other = known;
        from_other[ends - size - 1] ^= std::byte{0x70};
        put_icrc(from_other, icrc);
        expect_hint(known, from_other, source + addresses[0], source + addresses[1]);
        auto to_other = known;
        to_other[ends - 1] ^= std::byte{0x70};
        put_icrc(to_other, icrc);
        expect_hint(known, to_other, destination + addresses[2], destination + addresses[3]);
    };
    expect_translated(Network::Ipv4, 34, 4, {"192.0.2.2", "192.0.2.1", "192.0.2.1", "192.0.2.2"});
    expect_translated(Network::Ipv6, 54, 16,
                      {"2001:db8::2", "2001:db8::1", "2001:db8::1", "2001:db8::2"});
}

TEST(AnonymousFrame, has_the_hint_of_a_changed_port) {
    auto frame = frame_of(0x04);
    frame[35] ^= std::byte{0x40};
    expect_hint(frame, "right with UDP source port 49443", "right with UDP source port 49443");
}

// The difference that an unmasked checksum makes is a sum of the addresses.
TEST(AnonymousFrame, has_the_hint_of_an_unmasked_field_unless_it_is_a_checksum) {
    auto packet = wire_test::sample_packet(*wire::find_opcode(0x04), Network::Ipv4, 23);
    packet.ipv4->dsfield = 0x1a;
    auto frame = wire::encode(packet);
    wire_test::seal(frame, {8, 10, 11, 26, 27, 32});
    expect_hint(frame, "right with unmasked type of service",
                "right with unmasked type of service");
    wire_test::seal(frame, {1, 8, 26, 27, 32});
    expect_hint(frame, "right with unmasked header checksum", "none");
    wire_test::seal(frame, {1, 8, 10, 11, 32});
    ASSERT_NE(decoded(frame).udp->checksum, 0);
    expect_hint(frame, "right with unmasked UDP checksum", "none");
    wire_test::put16(frame, 40, 0);
    wire_test::seal(frame, {1, 8, 10, 11, 32});
    expect_hint(frame, "right with unmasked UDP checksum", "right with unmasked UDP checksum");

    frame = frame_of(0x04, Network::Ipv6);
    wire_test::seal(frame, {46, 47, 52});
    const std::string label = "right with unmasked traffic class, flow label, hop limit";
    expect_hint(frame, label, label);
    wire_test::seal(frame, {52});
    expect_hint(frame, label + ", UDP checksum", "none");
}

TEST(AnonymousFrame, has_the_hint_of_a_misplaced_icrc) {
    for (const std::size_t early : {1U, 2U, 3U}) {
        auto frame = frame_of(0x04, Network::Ipv4, 8 - early);
        auto trail = decoded(frame).trail;
        const auto end = static_cast<std::uint32_t>(frame.size() - 4 - early);
        trail.put(Header::Padding, end);
        trail.put(Header::Icrc, end + 4);
        const std::uint32_t icrc = *wire::right_icrc(frame, trail);
        Octets misplaced = frame;
        put_icrc(misplaced, icrc, early);
        std::fill(misplaced.end() - static_cast<std::ptrdiff_t>(early), misplaced.end(),
                  std::byte{});
        const std::string bytes = early == 1 ? "one byte" : std::to_string(early) + " bytes";
        expect_hint(misplaced, "right " + bytes + " earlier, before the padding",
                    "right " + bytes + " earlier, before the padding");
        put_icrc(frame, icrc);
        expect_hint(frame, "right without the " + bytes + " before it",
                    "right without the " + bytes + " before it");
    }
}

// Captured with Linux 6.12.118.
TEST(AnonymousFrame, has_the_hint_of_a_flush_of_soft_roce) {
    const std::string twice = "right with its headers counted twice";
    expect_hint(wire_test::from_hex("525400000201 525400000202 0800 45000040845940004011 3250"
                                    "c0000202 c0000201 e91c12b7002c0000"
                                    "1c00ffff00000017805087c5 00000001 00007ffc045272a0000004ce"
                                    "00000018 c80ae1f1"),
                twice, twice);
}

}  // namespace icrc_hints_test
