#include "trace/timeline/endpoint_search.hpp"

#include <gtest/gtest.h>

namespace endpoint_search_test {

std::vector<std::byte> payload_of(std::initializer_list<net::Endpoint> endpoints) {
    std::vector<std::byte> bytes(3, std::byte{'x'});
    for (const net::Endpoint& endpoint : endpoints) {
        const auto message = net::serialize(endpoint);
        bytes.insert(bytes.end(), message.begin(), message.end());
    }
    return bytes;
}
const net::Endpoint good{.qpn = 17, .psn = 5, .path_mtu = 1024};

TEST(EndpointSearch, finds_each_endpoint_of_a_segment) {
    net::Endpoint other = good;
    other.qpn = 18;
    const auto bytes = payload_of({good, other});
    util::Bytes payload = bytes;
    EXPECT_EQ(timeline::take_endpoint(payload), good);
    EXPECT_EQ(timeline::take_endpoint(payload), other);
    EXPECT_EQ(timeline::take_endpoint(payload), std::nullopt);
}

TEST(EndpointSearch, continues_after_a_message_with_invalid_values) {
    net::Endpoint bad = good;
    bad.path_mtu = 1000;
    const auto bytes = payload_of({bad, bad, good});
    util::Bytes payload = bytes;
    EXPECT_EQ(timeline::take_endpoint(payload), good);
    const auto none = payload_of({bad});
    payload = none;
    EXPECT_EQ(timeline::take_endpoint(payload), std::nullopt);
}

TEST(EndpointSearch, needs_the_whole_message) {
    const auto bytes = payload_of({good});
    util::Bytes payload = util::Bytes(bytes).first(bytes.size() - 1);
    EXPECT_EQ(timeline::take_endpoint(payload), std::nullopt);
}

}  // namespace endpoint_search_test
