// Link and network headers: parses each field from known bytes and writes it back.
#include <array>

#include <gtest/gtest.h>

#include "wire/sample_frames.hpp"

namespace link_test {

using wire_test::from_hex;

template <typename Header>
void expect_both_ways(const Header& header, std::string_view hex) {
    const auto bytes = from_hex(hex);
    ASSERT_EQ(bytes.size(), Header::size);
    EXPECT_TRUE(wire::parse<Header>(util::Bytes(bytes).first<Header::size>()) == header) << hex;
    std::array<std::byte, Header::size> out{};
    out.fill(std::byte{0xee});
    wire::write(header, out);
    EXPECT_TRUE(std::ranges::equal(out, bytes)) << hex;
}

TEST(Link, ethernet_and_vlan_headers) {
    expect_both_ways(wire::Ethernet{.dst = {{1, 2, 3, 4, 5, 6}},
                                    .src = {{0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6}},
                                    .type = wire::ether_type::roce_v1},
                     "010203040506 f1f2f3f4f5f6 8915");
    expect_both_ways(wire::Vlan{.priority = 5, .dei = true, .id = 0xabc, .type = 0x0800},
                     "babc 0800");
    expect_both_ways(wire::Vlan{.priority = 7, .dei = false, .id = 1, .type = 0x86dd}, "e001 86dd");
}

TEST(Link, both_versions_of_the_cooked_header) {
    const auto first = from_hex("0004 0001 0006 525400000202 0000 86dd");
    EXPECT_EQ(wire::LinuxCooked::parse(std::span(first).first<16>()),
              (wire::LinuxCooked{.version = 1,
                                 .protocol = 0x86dd,
                                 .ifindex = 0,
                                 .arphrd = 1,
                                 .packet_type = 4,
                                 .address_length = 6,
                                 .address = {{0x52, 0x54, 0, 0, 2, 2, 0, 0}}}));
    const auto second = from_hex("0800 0000 00000102 0304 03 06 525400000202 0000");
    EXPECT_EQ(wire::LinuxCooked::parse2(std::span(second).first<20>()),
              (wire::LinuxCooked{.version = 2,
                                 .protocol = 0x0800,
                                 .ifindex = 0x102,
                                 .arphrd = 0x304,
                                 .packet_type = 3,
                                 .address_length = 6,
                                 .address = {{0x52, 0x54, 0, 0, 2, 2, 0, 0}}}));
}

TEST(Link, ipv4_header) {
    const wire::Ipv4 ip{.version = 4,
                        .header_length = 24,
                        .dsfield = 0xb9,
                        .total_length = 0x8102,
                        .id = 0xfedc,
                        .df = true,
                        .mf = false,
                        .fragment_offset = 0,
                        .ttl = 63,
                        .protocol = 17,
                        .checksum = 0xabcd,
                        .src = {{192, 0, 2, 2}},
                        .dst = {{192, 0, 2, 1}}};
    expect_both_ways(ip, "46b98102 fedc4000 3f11abcd c0000202 c0000201");
    EXPECT_EQ(ip.dscp(), 46) << "expedited forwarding";
    EXPECT_EQ(ip.ecn(), 1);
    EXPECT_FALSE(ip.is_fragment());
    wire::Ipv4 fragment{};
    fragment.mf = true;
    fragment.fragment_offset = 0x1fff * 8;
    EXPECT_TRUE(fragment.is_fragment());
    expect_both_ways(fragment, "45000000 00003fff 40110000 00000000 00000000");
}

TEST(Link, ipv6_header_and_grh_have_the_same_layout) {
    constexpr std::string_view addresses =
        " 20010db8000000000000000000000002 fe800000000000000000000000000001";
    const wire::Ipv6Address src{{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
    const wire::Ipv6Address dst{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
    const wire::Ipv6 ip{.version = 6,
                        .tclass = 0xb9,
                        .flow_label = 0xfedcb,
                        .payload_length = 0x8102,
                        .next_header = 17,
                        .hop_limit = 63,
                        .src = src,
                        .dst = dst};
    expect_both_ways(ip, "6b9fedcb 8102113f" + std::string(addresses));
    const wire::Grh grh{.ipver = 6,
                        .tclass = 0xb9,
                        .flowlabel = 0xfedcb,
                        .paylen = 0x8102,
                        .nxthdr = 0x1b,
                        .hoplmt = 63,
                        .sgid = src,
                        .dgid = dst};
    expect_both_ways(grh, "6b9fedcb 81021b3f" + std::string(addresses));
}

TEST(Link, udp_header) {
    expect_both_ways(
        wire::Udp{.src_port = 0xc123, .dst_port = 4791, .length = 0x8102, .checksum = 0xfedc},
        "c123 12b7 8102 fedc");
}

}  // namespace link_test
