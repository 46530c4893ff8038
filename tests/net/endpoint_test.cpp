// The bytes of endpoints, and endpoints of a peer that are rejected.
#include "net/endpoint.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "util/error.hpp"

namespace endpoint_test {

using net::Endpoint;
using net::MessageType;

Endpoint sample() {
    Endpoint endpoint{.qpn = 0x123456,
                      .psn = 0xabcdef,
                      .lid = 7,
                      .path_mtu = 1024,
                      .va = 0x7f0011223344,
                      .length = 4096,
                      .rkey = 0xdeadbeef};
    for (std::size_t i = 0; i < endpoint.gid.size(); ++i)
        endpoint.gid[i] = static_cast<std::byte>(0xf0 + i);
    return endpoint;
}

using Message = std::array<std::byte, net::header_size + net::endpoint_size>;

util::FixedBytes<net::header_size> header_of(const Message& message) {
    return util::FixedBytes<Message().size()>(message).first<net::header_size>();
}
util::FixedBytes<net::endpoint_size> body_of(const Message& message) {
    return util::FixedBytes<Message().size()>(message).last<net::endpoint_size>();
}

template <typename Call>
std::string error_of(Call call) {
    try {
        call();
    } catch (const util::Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Endpoint, comes_back_as_it_was_sent) {
    const Message message = net::serialize(sample());
    const net::Header header = net::parse_header(header_of(message));
    EXPECT_EQ(header.type, MessageType::Endpoint);
    EXPECT_EQ(header.size, net::endpoint_size);
    EXPECT_EQ(net::parse_endpoint(body_of(message)), sample());
}

TEST(Endpoint, is_zeros_where_a_program_sets_nothing) {
    const Message message = net::serialize(net::Endpoint());
    EXPECT_TRUE(
        std::ranges::all_of(body_of(message), [](std::byte b) { return b == std::byte{}; }));
}

TEST(Endpoint, is_in_network_order_at_fixed_places) {
    const Message message = net::serialize(sample());
    const auto body = body_of(message);
    EXPECT_EQ(util::be32<0>(header_of(message)), 0x52574c58U);
    EXPECT_EQ(util::be32<0>(body), 0x123456U);
    EXPECT_EQ(util::be32<4>(body), 0xabcdefU);
    EXPECT_EQ(util::be16<8>(body), 7);
    EXPECT_EQ(util::be16<10>(body), 1024);
    EXPECT_EQ(util::be8<12>(body), 0xf0);
    EXPECT_EQ(util::be8<27>(body), 0xff);
    EXPECT_EQ(util::be64<28>(body), 0x7f0011223344U);
    EXPECT_EQ(util::be64<36>(body), 4096U);
    EXPECT_EQ(util::be32<44>(body), 0xdeadbeefU);
}

TEST(Endpoint, values_that_make_no_sense_are_refused) {
    const auto refused = [](auto change) {
        Endpoint endpoint = sample();
        change(endpoint);
        const Message message = net::serialize(endpoint);
        return error_of([&] { net::parse_endpoint(body_of(message)); });
    };
    EXPECT_EQ(refused([](Endpoint& e) { e.qpn = 1; }),
              "the peer's endpoint is not valid: queue pair 0x1.");
    EXPECT_EQ(refused([](Endpoint& e) { e.qpn = 0x1000000; }),
              "the peer's endpoint is not valid: queue pair 0x1000000.");
    EXPECT_EQ(refused([](Endpoint& e) { e.psn = 0x1000000; }),
              "the peer's endpoint is not valid: PSN 0x1000000 has more than 24 bits.");
    EXPECT_EQ(refused([](Endpoint& e) { e.path_mtu = 1500; }),
              "the peer's endpoint is not valid: path MTU 1500.");
    EXPECT_EQ(refused([](Endpoint& e) { e.va = UINT64_MAX; }),
              "the peer's endpoint is not valid: its memory range wraps around.");
    EXPECT_EQ(refused([](Endpoint&) {}), "accepted");
}

// 24 bits: 0 to 0xffffff, both inclusive.
TEST(Endpoint, the_last_queue_pair_and_psn_are_valid) {
    Endpoint endpoint = sample();
    endpoint.qpn = endpoint.psn = 0xffffff;
    const Message bytes = serialize(endpoint);
    const util::FixedBytes<Message().size()> all(bytes);
    EXPECT_EQ(net::parse_endpoint(all.subspan<net::header_size, net::endpoint_size>()), endpoint);
}

TEST(Endpoint, its_gid_is_the_address_that_it_comes_from) {
    Endpoint endpoint = sample();
    const auto objection = [&endpoint](const char* gid, const char* peer) -> std::string {
        endpoint.gid = util::Address::parse(gid)->ipv6_bytes();
        try {
            net::check_gid(endpoint, util::Address::parse(peer, 18515).value());
        } catch (const net::ProtocolError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(objection("192.0.2.2", "192.0.2.2"), "");
    EXPECT_EQ(objection("192.0.2.2", "::ffff:192.0.2.2"), "");
    EXPECT_EQ(objection("fe80::2", "fe80::2"), "");
    EXPECT_EQ(objection("192.0.2.100", "192.0.2.2"),
              "the peer's endpoint is not valid: its GID is ::ffff:192.0.2.100, but the connection "
              "is with 192.0.2.2.");
    // Addresses of other hosts, multicast, broadcast, and an IPv4 address that is not mapped.
    for (const char* gid :
         {"ff02::1", "ff0e::ffff:224.0.0.1", "255.255.255.255", "192.0.2.1", "::", "::192.0.2.2"})
        EXPECT_NE(objection(gid, "192.0.2.2"), "") << gid;
}

}  // namespace endpoint_test
