#include "anonymize/pseudonyms.hpp"

#include <set>

#include <gtest/gtest.h>

#include "util/error.hpp"
#include "wire/mad.hpp"

namespace pseudonyms_test {

using anonymize::Pseudonyms;
using wire::Ipv4Address;
using wire::Ipv6Address;
using wire::MacAddress;

constexpr Ipv6Address mapped{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 20, 30, 40}};

TEST(Pseudonyms, number_hosts_in_their_order) {
    Pseudonyms names;
    EXPECT_EQ(text(names.of(Ipv4Address{{10, 20, 30, 40}})), "192.0.2.1");
    EXPECT_EQ(text(names.of(Ipv4Address{{192, 0, 2, 1}})), "192.0.2.2");
    EXPECT_EQ(text(names.of(Ipv4Address{{10, 20, 30, 40}})), "192.0.2.1");
    EXPECT_EQ(text(names.of(Ipv6Address{{0xfd, 0, 1}})), "2001:db8::1");
    EXPECT_EQ(text(names.of(MacAddress{{0x24, 0x8a, 7, 1, 2, 3}})), "02:00:00:00:00:01");
    EXPECT_EQ(names.ip_addresses(), 3U);
    EXPECT_EQ(names.mac_addresses(), 1U);
}

TEST(Pseudonyms, of_an_ipv4_address_are_the_same_in_an_ipv6_address) {
    Pseudonyms names;
    EXPECT_EQ(text(names.of(mapped)), "::ffff:192.0.2.1");
    EXPECT_EQ(text(names.of(Ipv4Address{{10, 20, 30, 40}})), "192.0.2.1");
    EXPECT_EQ(names.ip_addresses(), 1U);
}

TEST(Pseudonyms, continue_in_the_benchmark_network_up_to_its_end) {
    Pseudonyms names;
    std::set<Ipv4Address> all;
    unsigned number = 0;
    const auto next = [&] {
        ++number;
        return names.of(Ipv4Address{{10, static_cast<std::uint8_t>(number >> 16),
                                     static_cast<std::uint8_t>(number >> 8),
                                     static_cast<std::uint8_t>(number)}});
    };
    constexpr std::size_t most = 131'324;
    for (std::size_t i = 0; i < most; ++i) {
        const Ipv4Address one = next();
        all.insert(one);
        if (i == 254) {
            EXPECT_EQ(text(one), "198.18.0.1");
        }
        if (i + 1 == most) {
            EXPECT_EQ(text(one), "198.19.255.254");
        }
    }
    EXPECT_EQ(all.size(), most);
    EXPECT_THROW(next(), util::Error);
}

TEST(Pseudonyms, keep_what_is_no_host) {
    Pseudonyms names;
    for (const Ipv4Address& one : {Ipv4Address{}, Ipv4Address{{255, 255, 255, 255}},
                                   Ipv4Address{{127, 0, 0, 1}}, Ipv4Address{{224, 0, 0, 251}}})
        EXPECT_EQ(names.of(one), one) << text(one);
    for (const Ipv6Address& one :
         {Ipv6Address{}, Ipv6Address{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
          Ipv6Address{{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}})
        EXPECT_EQ(names.of(one), one) << text(one);
    for (const MacAddress& one : {MacAddress{}, MacAddress{{255, 255, 255, 255, 255, 255}},
                                  MacAddress{{0x01, 0x80, 0xc2, 0, 0, 1}}})
        EXPECT_EQ(names.of(one), one) << text(one);
    EXPECT_EQ(names.ip_addresses() + names.mac_addresses(), 0U);
}

TEST(Pseudonyms, of_groups_and_link_local_addresses_are_such) {
    Pseudonyms names;
    EXPECT_EQ(text(names.of(Ipv4Address{{239, 1, 2, 3}})), "233.252.0.1");
    EXPECT_EQ(text(names.of(Ipv4Address{{169, 254, 77, 3}})), "169.254.1.2");
    EXPECT_EQ(text(names.of(Ipv6Address{{0xff, 0x1e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}})),
              "ff1e:20:2001:db8::1");
    EXPECT_EQ(text(names.of(Ipv6Address{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0xa, 0xb}})), "fe80::2");
    EXPECT_EQ(text(names.of(MacAddress{{0x01, 0, 0x5e, 1, 2, 3}})), "03:00:00:00:00:01");
}

TEST(Pseudonyms, of_an_ethernet_address_are_the_same_in_an_eui64) {
    Pseudonyms names;
    const Ipv6Address address{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x26, 0x8a, 7, 0xff, 0xfe, 1, 2, 3}};
    EXPECT_EQ(text(names.of(address)), "fe80::ff:fe00:1");
    EXPECT_EQ(text(names.of(MacAddress{{0x24, 0x8a, 7, 1, 2, 3}})), "02:00:00:00:00:01");
    EXPECT_EQ(names.guid(0x268a07fffe010203), 0x000000fffe000001U);
    EXPECT_EQ(names.guid(0x248a070300010203), 0x0200000000000001U);
    EXPECT_EQ(names.guid(0), 0U);
    EXPECT_EQ(names.mac_addresses(), 1U);
}

TEST(Pseudonyms, of_rkeys_are_equal_where_the_rkeys_are) {
    Pseudonyms names;
    std::set<std::uint32_t> all;
    for (std::uint32_t rkey = 1; rkey <= 1000; ++rkey)
        all.insert(names.rkey(rkey));
    EXPECT_EQ(all.size(), 1000U);
    EXPECT_EQ(names.rkeys(), 1000U);
    EXPECT_EQ(names.rkey(7), names.rkey(7));
    EXPECT_EQ(names.rkey(0), 0U);
    EXPECT_FALSE(all.contains(0));
}

TEST(Pseudonyms, of_virtual_addresses_keep_the_distances_within_a_region) {
    Pseudonyms names;
    const std::uint64_t base = names.va(1, 0x7f0badcb1010);
    EXPECT_EQ(base & 0xfff, 0x010U);
    EXPECT_NE(base, 0x7f0badcb1010U);
    EXPECT_EQ(names.va(1, 0x7f0badcb1010 + 123456), base + 123456);
    EXPECT_EQ(names.va(1, 0x7f0badcb1010 - 16), base - 16);
    EXPECT_NE(names.va(2, 0x7f0badcb1010), base);
    EXPECT_EQ(names.va(1, 0x2000), 0x2000U);
}

TEST(Pseudonyms, of_queue_keys_keep_well_known_ones_and_the_highest_bit) {
    Pseudonyms names;
    EXPECT_EQ(names.q_key(wire::gsi_q_key), wire::gsi_q_key);
    EXPECT_EQ(names.q_key(0x01234567), 0x01234567U);
    EXPECT_EQ(names.q_key(0), 0U);
    EXPECT_EQ(names.q_key(0x11111111) >> 31, 0U);
    EXPECT_EQ(names.q_key(0x91111111) >> 31, 1U);
    EXPECT_NE(names.q_key(0x91111111), 0x91111111U);
    EXPECT_EQ(names.q_key(0x91111111), names.q_key(0x91111111));
}

TEST(Pseudonyms, of_data_differ_if_the_data_do) {
    const Pseudonyms names;
    const auto of = [&](std::byte last, std::uint64_t context) {
        std::vector<std::byte> data(100, std::byte{0x77});
        data.back() = last;
        names.stand_in(data, context);
        EXPECT_TRUE(std::all_of(data.begin() + 8, data.end(),
                                [](std::byte byte) { return byte == std::byte{0}; }));
        return data;
    };
    EXPECT_EQ(of(std::byte{1}, 5), of(std::byte{1}, 5));
    EXPECT_NE(of(std::byte{1}, 5), of(std::byte{2}, 5));
    EXPECT_NE(of(std::byte{1}, 5), of(std::byte{1}, 6));
    std::byte one{7};
    names.stand_in(std::span(&one, 1), 0);
    names.stand_in({}, 0);
}

}  // namespace pseudonyms_test
