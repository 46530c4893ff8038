// Frames other than RoCE: their summary, the kind under which they are counted, and its number.
#include "wire/text/other.hpp"

#include <gtest/gtest.h>

#include "wire/infiniband_frames.hpp"
#include "wire/outer_packets.hpp"
#include "wire/text/other_tally.hpp"

namespace other_test {

using outer_test::decode;
using wire_test::from_hex;
using wire_test::in_ethernet;
using wire_test::in_ethernet_ipv4;
using wire_test::in_ethernet_ipv6;
using wire_test::in_udp;
using wire_test::joined;
using wire_test::Octets;

constexpr std::uint8_t gre = 47;
constexpr std::uint8_t udp = 17;

struct Case {
    Octets frame;
    std::string_view summary;
    std::string_view kind;
    std::uint16_t number = 0;
};

void expect_described(const std::vector<Case>& cases) {
    for (const Case& one : cases) {
        const auto packet = decode(one.frame);
        EXPECT_EQ(wire::other_summary(packet, one.frame), one.summary);
        EXPECT_EQ(wire::other_kind(packet), one.kind);
        EXPECT_EQ(wire::other_number(packet), one.number) << one.kind;
    }
}

Octets in_udp_ipv4(std::uint16_t port, util::Bytes payload) {
    return in_ethernet_ipv4(udp, in_udp(port, payload));
}
const Octets four = from_hex("01020304");

TEST(Other, frames_are_described_by_their_ether_type) {
    expect_described(
        {{in_ethernet("0806", four), "ARP", "ARP", 0},
         {in_ethernet("88cc", four), "EtherType 0x88cc", "EtherType 0x88cc", 0x88cc},
         {in_ethernet("8100", from_hex("0007 88cc")), "EtherType 0x88cc", "EtherType 0x88cc",
          0x88cc},
         {in_ethernet("0002", from_hex("4242")), "LLC", "LLC", 0},
         {in_ethernet("0003", from_hex("424203")), "LLC", "LLC", 0},
         {in_ethernet("0008", from_hex("aaaa03 000000 05dc")), "LLC", "LLC", 0},
         {in_ethernet("0008", from_hex("aaaa03 00000c 2000")), "LLC", "LLC", 0},
         {in_ethernet("88e5", four), "MACsec, which is not decoded", "MACsec", 0x88e5},
         {in_ethernet("8808", from_hex("0002")), "MAC control opcode 0x0002", "MAC control", 2},
         {in_ethernet("8808", from_hex("0001 ffff")), "PAUSE 65535 quanta", "PAUSE", 1}});
}

TEST(Other, frames_are_described_by_their_ip_protocol) {
    expect_described({{in_ethernet_ipv4(1, four), "ICMP", "ICMP", 1},
                      {in_ethernet_ipv4(2, four), "IGMP", "IGMP", 2},
                      {in_ethernet_ipv6(58, four), "ICMPv6", "ICMPv6", 58},
                      {in_ethernet_ipv4(89, four), "IP protocol 89", "IP protocol 89", 89},
                      {in_ethernet_ipv4(50, four), "ESP, which is encrypted", "ESP", 0}});
}

TEST(Other, frames_are_described_by_their_udp_port) {
    expect_described({{in_udp_ipv4(53, four), "UDP 53248 → 53 len 4", "UDP", 0},
                      {in_udp_ipv4(4500, four), "UDP 53248 → 4500 len 4", "ESP in UDP", 4500},
                      {in_udp_ipv4(6635, four), "UDP 53248 → 6635 len 4", "MPLS in UDP", 6635}});
}

TEST(Other, the_encapsulation_precedes_its_contents) {
    const Octets arp = in_ethernet("0806", four);
    expect_described(
        {{in_udp_ipv4(4789, joined("08000000 00002a00", arp)), "VXLAN 42: ARP",
          "VXLAN with ARP inside", 0},
         {in_ethernet_ipv4(gre, joined("0000 88cc", four)), "GRE: EtherType 0x88cc",
          "GRE with EtherType 0x88cc inside", 0x88cc},
         {in_ethernet_ipv4(gre, joined("0000 0003", four)), "GRE: EtherType 0x0003",
          "GRE with EtherType 0x0003 inside", 0},
         {in_ethernet("8864", from_hex("1100 0005 0006 c021 01020304")),
          "PPPoE 5: PPP protocol 0xc021", "PPPoE with PPP protocol 0xc021 inside", 0xc021}});
}

TEST(Other, frames_of_infiniband_are_described_by_their_type) {
    const auto expect = [](const Octets& frame, wire::LinkType link, std::string_view kind,
                           std::uint16_t number) {
        const auto packet = wire::decode(frame, link);
        EXPECT_EQ(wire::other_kind(packet), kind);
        EXPECT_EQ(wire::other_number(packet), number) << kind;
    };
    using enum wire::LinkType;
    expect(from_hex("0000 0005 0006 0001 00000800 00000000 00000000 00000000"), Infiniband,
           "raw InfiniBand packet, EtherType 0x0800", 0x0800);
    expect(from_hex("0001 0005 0003 0001 60000000 0000"), Infiniband, "raw InfiniBand packet, IPv6",
           0x86dd);
    expect(wire_test::erf_record(25, four), Erf, "InfiniBand link packets", 0);
    expect(wire_test::erf_record(24, four), Erf, "ERF type 24", 24);
}

TEST(Other, a_later_fragment_is_not_reassembled) {
    auto frame = in_ethernet_ipv4(udp, four);
    frame[21] = std::byte{1};  // the fragment's offset, in units of 8 bytes
    expect_described({{frame, "an IP fragment without a UDP header; fragments are not reassembled",
                       "later IP fragments", 0}});
}

TEST(Other, a_cooked_frame_shows_its_protocol) {
    const auto frame = from_hex("0000 0001 0006 020000000002 0000 88cc 01020304");
    const auto packet = wire::decode(frame, wire::LinkType::LinuxCooked);
    EXPECT_EQ(wire::other_summary(packet, frame), "EtherType 0x88cc");
    EXPECT_EQ(wire::other_number(packet), 0x88cc);
    auto length = frame;
    length[14] = length[15] = std::byte{4};  // 0x0404: with this link type, not a length
    EXPECT_EQ(wire::other_kind(wire::decode(length, wire::LinkType::LinuxCooked)),
              "EtherType 0x0404");
}

TEST(Other, tcp_whose_header_was_cut_has_no_ports) {
    const auto whole =
        in_ethernet_ipv4(6, from_hex("9c40 4853 00000000 00000000 5007 0000 0000 0000"));
    EXPECT_EQ(wire::other_summary(decode(whole), whole), "TCP 40000 → 18515 SYN FIN RST");
    const auto cut = util::Bytes(whole).first(whole.size() - 1);
    const auto packet = wire::decode(cut, wire::LinkType::Ethernet, whole.size());
    EXPECT_EQ(wire::other_summary(packet, cut), "TCP");
    EXPECT_EQ(wire::other_summary(packet, util::Bytes(whole).first(20)), "TCP");
}

TEST(Other, a_packet_that_ends_before_the_bth_has_the_reason_as_its_kind) {
    const auto whole = outer_test::sample();
    const auto cut =
        wire::decode(util::Bytes(whole).first(40), wire::LinkType::Ethernet, whole.size());
    EXPECT_EQ(wire::other_kind(cut), "truncated before the BTH");
    EXPECT_EQ(wire::other_kind(decode(Octets(whole.begin(), whole.begin() + 10))),
              "malformed before the BTH");
}

std::vector<std::string> tally(const std::vector<Octets>& frames) {
    wire::OtherTally all;
    for (const Octets& frame : frames)
        all.add(decode(frame));
    return all.lines();
}
using Lines = std::vector<std::string>;

TEST(OtherTally, an_empty_capture_has_no_packet) {
    EXPECT_EQ(tally({}), Lines{"the capture has no packet"});
}

TEST(OtherTally, kinds_are_counted_with_the_most_frequent_first) {
    const auto arp = in_ethernet("0806", four);
    const auto icmp = in_ethernet_ipv4(1, four);
    EXPECT_EQ(tally({arp}), Lines{"no RoCE packet in 1 packet: 1 ARP"});
    EXPECT_EQ(tally({arp, icmp, icmp}), Lines{"no RoCE packet in 3 packets: 2 ICMP, 1 ARP"});
    EXPECT_EQ(tally({arp, icmp, outer_test::sample()}), Lines{});
}

TEST(OtherTally, eight_kinds_are_named_and_the_others_are_summed_up) {
    std::vector<Octets> frames;
    for (std::uint8_t protocol = 100; protocol < 108; ++protocol)
        frames.push_back(in_ethernet_ipv4(protocol, four));
    std::string eight = "1 IP protocol 100";
    for (int protocol = 101; protocol < 108; ++protocol)
        eight += ", 1 IP protocol " + std::to_string(protocol);
    EXPECT_EQ(tally(frames), Lines{"no RoCE packet in 8 packets: " + eight});
    frames.push_back(in_ethernet_ipv4(108, four));
    frames.push_back(in_ethernet_ipv4(109, four));
    EXPECT_EQ(tally(frames),
              Lines{"no RoCE packet in 10 packets: " + eight + ", 2 of other kinds"});
}

TEST(OtherTally, more_than_256_kinds_are_counted_as_one) {
    wire::OtherTally all;
    for (std::uint16_t type = 0x9000; type < 0x9000 + 300; ++type) {
        wire::Packet packet;
        packet.not_roce = wire::NotRoce::OtherEtherType;
        packet.ethernet = wire::Ethernet{.dst = {}, .src = {}, .type = type};
        all.add(packet);
    }
    // 255 kinds of their own, then 45 packets in the last.
    ASSERT_EQ(all.lines().size(), 1U);
    EXPECT_TRUE(all.lines()[0].starts_with(
        "no RoCE packet in 300 packets: 45 of other kinds, 1 EtherType 0x9000, "))
        << all.lines()[0];
    EXPECT_TRUE(all.lines()[0].ends_with(", 248 of other kinds")) << all.lines()[0];
}

TEST(OtherTally, packets_that_may_hide_roce_are_reported_beside_roce) {
    const auto esp = in_ethernet_ipv4(50, four);
    const auto tunnel = in_udp_ipv4(4790, four);
    const auto dns = in_udp_ipv4(53, four);
    EXPECT_EQ(tally({outer_test::sample(), esp, esp, tunnel, dns}),
              Lines{"3 packets may have RoCE inside that is not decoded: 2 ESP, 1 VXLAN-GPE"});
}

TEST(OtherTally, pauses_are_counted_by_priority) {
    const auto control = [](std::string_view hex) { return in_ethernet("8808", from_hex(hex)); };
    const auto pfc = [&](std::string_view enable, std::string_view third) {
        return control("0101" + std::string(enable) + "0000 0000 0000" + std::string(third) +
                       "00000000 00000000");
    };
    const auto lines =
        tally({outer_test::sample(), pfc("0008", "ffff"), pfc("0008", "0001"), pfc("0008", "0000"),
               control("0001 ffff"), control("0001 0000"), control("0001 0000")});
    EXPECT_EQ(lines, Lines{"PFC priority 3: 2 pause, 1 resume; PAUSE: 1 pause, 2 resume"});
}

TEST(OtherTally, packets_that_end_before_the_bth_are_told_apart) {
    const auto whole = outer_test::sample();
    wire::OtherTally all;
    all.add(wire::decode(util::Bytes(whole).first(40), wire::LinkType::Ethernet, whole.size()));
    all.add(wire::decode(util::Bytes(whole).first(10), wire::LinkType::Ethernet));
    EXPECT_EQ(all.lines(), Lines{"no RoCE packet in 2 packets: 1 truncated before the BTH, "
                                 "1 malformed before the BTH"});
}

}  // namespace other_test
