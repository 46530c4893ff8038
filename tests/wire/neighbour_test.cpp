// Requests and replies of ARP and of neighbour discovery.
#include "wire/neighbour.hpp"

#include <gtest/gtest.h>

#include "wire/encapsulations.hpp"

namespace neighbour_test {

using wire::LinkType;
using wire_test::from_hex;

std::string text_of(util::Bytes frame) {
    const auto found = wire::neighbour(wire::decode(frame, LinkType::Ethernet), frame);
    return found ? found->text() : "none";
}
std::string text(std::string_view message, const std::string& type = "0806") {
    return text_of(wire_test::in_ethernet(type, from_hex(message)));
}
// From fd00::2 to fd00::1.
std::string text_v6(std::string_view message, std::byte hop_limit = std::byte{255},
                    std::uint8_t next_header = 58) {
    constexpr std::size_t hop_limit_at = 14 + 7;
    auto frame = wire_test::in_ethernet_ipv6(next_header, from_hex(message));
    frame.at(hop_limit_at) = hop_limit;
    return text_of(frame);
}

TEST(Arp, names_who_asks_and_who_replies) {
    EXPECT_EQ(text("0001 0800 0604 0001 020000000002 c0000202 000000000000 c0000201"),
              "ARP who has 192.0.2.1? Tell 192.0.2.2");
    EXPECT_EQ(text("0001 0800 0604 0002 020000000001 c0000201 020000000002 c0000202"),
              "ARP reply of 192.0.2.1");
}

TEST(Arp, is_found_after_a_vlan_tag) {
    EXPECT_EQ(
        text("0007 0806 0001 0800 0604 0001 020000000002 c0000202 000000000000 c0000201", "8100"),
        "ARP who has 192.0.2.1? Tell 192.0.2.2");
}

TEST(Arp, without_a_sender_has_no_address_of_one) {
    const auto frame = wire_test::in_ethernet(
        "0806", from_hex("0001 0800 0604 0001 020000000002 00000000 000000000000 c0000201"));
    const auto found = wire::neighbour(wire::decode(frame, LinkType::Ethernet), frame);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->sender, wire::IpAddress());
}

TEST(Arp, of_other_kinds_is_none) {
    EXPECT_EQ(text("0006 0800 0604 0001 020000000002 c0000202 000000000000 c0000201"), "none");
    EXPECT_EQ(text("0001 86dd 0604 0001 020000000002 c0000202 000000000000 c0000201"), "none");
    EXPECT_EQ(text("0001 0800 0610 0001 020000000002 c0000202 000000000000 c0000201"), "none");
    EXPECT_EQ(text("0001 0800 0604 0003 020000000002 c0000202 000000000000 c0000201"), "none");
    EXPECT_EQ(text("0001 0800 0604 0001 020000000002 c0000202 000000000000 c00002"), "none");
    EXPECT_EQ(text("0001 0800 0604 0001 020000000002 c0000202 000000000000 c0000201", "0842"),
              "none");
}

// The target is fd00::1.
constexpr const char* solicitation = "8700 0000 00000000 fd000000000000000000000000000001";
constexpr const char* advertisement = "8800 0000 60000000 fd000000000000000000000000000001";

TEST(NeighbourDiscovery, names_who_asks_and_who_replies) {
    EXPECT_EQ(text_v6(solicitation), "NDP who has fd00::1? Tell fd00::2");
    EXPECT_EQ(text_v6(advertisement), "NDP reply of fd00::1");
}

// A router has forwarded it, the code is not 0, the type is another one, it is cut, it is UDP.
TEST(NeighbourDiscovery, of_other_kinds_is_none) {
    EXPECT_EQ(text_v6(solicitation, std::byte{254}), "none");
    EXPECT_EQ(text_v6("8701 0000 00000000 fd000000000000000000000000000001"), "none");
    EXPECT_EQ(text_v6("8900 0000 00000000 fd000000000000000000000000000001"), "none");
    EXPECT_EQ(text_v6("8700 0000 00000000 fd0000000000000000000000000000"), "none");
    EXPECT_EQ(text_v6(solicitation, std::byte{255}, 17), "none");
}

}  // namespace neighbour_test
