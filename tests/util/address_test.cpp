#include "util/address.hpp"

#include <gtest/gtest.h>

#include "support/error_text.hpp"

namespace {

using util::Address;

TEST(Address, parses_ipv4_and_ipv6_digits) {
    EXPECT_EQ(Address::parse("192.0.2.1", 18515)->text(), "192.0.2.1 port 18515");
    EXPECT_EQ(Address::parse("2001:db8::1", 7)->text(), "2001:db8::1 port 7");
    EXPECT_TRUE(Address::parse("2001:db8::1")->is_ipv6());
}

TEST(Address, refuses_names_and_half_addresses) {
    for (const char* text :
         {"", "localhost", "192.0.2", "192.0.2.256", "2001:db8::g", "192.0.2.1 "})
        EXPECT_FALSE(Address::parse(text)) << text;
}

TEST(Address, shows_an_ipv4_mapped_address_as_ipv4) {
    EXPECT_EQ(Address::parse("::ffff:192.0.2.7")->host(), "192.0.2.7");
}

TEST(Address, as_ipv6_it_is_what_a_gid_is) {
    const auto text = [](const char* address) {
        std::string digits;
        for (const std::byte byte : Address::parse(address)->ipv6_bytes())
            digits += "0123456789abcdef"[std::to_integer<int>(byte) >> 4U],
                digits += "0123456789abcdef"[std::to_integer<int>(byte) & 15];
        return digits;
    };
    EXPECT_EQ(text("192.0.2.7"), "00000000000000000000ffffc0000207");
    EXPECT_EQ(text("::ffff:192.0.2.7"), text("192.0.2.7"));
    EXPECT_EQ(text("2001:db8::1"), "20010db8000000000000000000000001");
}

TEST(Address, a_link_local_address_without_a_scope_is_that_of_any_interface) {
    const auto is_same = [](const char* one, const char* other) {
        return Address::parse(one)->is_host_of(*Address::parse(other, 18515));
    };
    EXPECT_TRUE(is_same("192.0.2.1", "192.0.2.1"));
    EXPECT_TRUE(is_same("192.0.2.1", "::ffff:192.0.2.1"));
    EXPECT_FALSE(is_same("192.0.2.1", "192.0.2.2"));
    EXPECT_TRUE(is_same("fe80::1%lo", "fe80::1"));
    EXPECT_TRUE(is_same("fe80::1", "fe80::1%lo"));
    EXPECT_TRUE(is_same("fe80::1%lo", "fe80::1%lo"));
    EXPECT_FALSE(is_same("fe80::1%lo", "fe80::1%2147483647"));
}

TEST(Address, any_accepts_both_families) {
    EXPECT_TRUE(Address::any(1).is_any());
    EXPECT_TRUE(Address::any(1).is_ipv6());
    EXPECT_EQ(Address::any(18515).port(), 18515);
    EXPECT_FALSE(Address::parse("192.0.2.1")->is_any());
    EXPECT_TRUE(Address::parse("0.0.0.0")->is_any());
}

TEST(Address, resolves_digits_and_names) {
    EXPECT_EQ(Address::resolve("192.0.2.1", 7, std::chrono::seconds(20)).text(),
              "192.0.2.1 port 7");
    // RFC 6761: localhost is this host.
    const Address local = Address::resolve("localhost", 7, std::chrono::seconds(20));
    EXPECT_TRUE(local.host() == "127.0.0.1" || local.host() == "::1") << local.text();
    EXPECT_EQ(local.port(), 7);
}

TEST(Address, a_name_that_is_not_resolved_in_time_is_an_error) {
    EXPECT_EQ(support::error_text([] {
                  Address::resolve("no-such-host.invalid", 1, std::chrono::milliseconds(0));
              }),
              "the name service did not resolve 'no-such-host.invalid' within 0 ms. Give the IP "
              "address instead.");
}

TEST(Address, of_an_unknown_family_has_no_host) {
    sockaddr address{};
    address.sa_family = AF_PACKET;
    EXPECT_EQ(Address(&address).host(), "?");
}

TEST(Address, resolve_names_the_host_it_cannot_find) {
    try {
        // RFC 6761: names under .invalid never exist.
        Address::resolve("no-such-host.invalid", 1, std::chrono::seconds(20));
        FAIL() << "resolved";
    } catch (const util::Error& error) {
        EXPECT_NE(std::string(error.what()).find("'no-such-host.invalid'"), std::string::npos)
            << error.what();
        EXPECT_NE(std::string(error.what()).find("IP address"), std::string::npos) << error.what();
    }
}

}  // namespace
