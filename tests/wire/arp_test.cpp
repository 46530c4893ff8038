// ARP requests and replies.
#include "wire/arp.hpp"

#include <gtest/gtest.h>

#include "wire/encapsulations.hpp"

namespace arp_test {

using wire::LinkType;
using wire_test::from_hex;

std::string text(std::string_view message, const std::string& type = "0806") {
    const auto frame = wire_test::in_ethernet(type, from_hex(message));
    const auto found = wire::arp(wire::decode(frame, LinkType::Ethernet), frame);
    return found ? found->text() : "none";
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

TEST(Arp, of_other_kinds_is_none) {
    EXPECT_EQ(text("0006 0800 0604 0001 020000000002 c0000202 000000000000 c0000201"), "none");
    EXPECT_EQ(text("0001 86dd 0604 0001 020000000002 c0000202 000000000000 c0000201"), "none");
    EXPECT_EQ(text("0001 0800 0610 0001 020000000002 c0000202 000000000000 c0000201"), "none");
    EXPECT_EQ(text("0001 0800 0604 0003 020000000002 c0000202 000000000000 c0000201"), "none");
    EXPECT_EQ(text("0001 0800 0604 0001 020000000002 c0000202 000000000000 c00002"), "none");
    EXPECT_EQ(text("0001 0800 0604 0001 020000000002 c0000202 000000000000 c0000201", "0842"),
              "none");
}

}  // namespace arp_test
