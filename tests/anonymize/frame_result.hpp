// Sample frames, the frames that they become, and bytes that must not be in these.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include <gtest/gtest.h>

#include "anonymize/anonymous_frame.hpp"
#include "wire/encapsulations.hpp"

namespace anonymize_test {

using wire_test::Network;
using wire_test::Octets;

inline Octets frame_of(std::uint8_t opcode, Network network = Network::Ipv4,
                       std::size_t payload = 64) {
    return wire::encode(wire_test::sample_packet(*wire::find_opcode(opcode), network, payload));
}

inline wire::Packet decoded(const Octets& frame) {
    return wire::decode(frame, wire::LinkType::Ethernet);
}

inline Octets result_of(anonymize::Anonymizer& anonymizer, const Octets& frame) {
    const auto result = anonymized(anonymizer, frame, wire::LinkType::Ethernet, frame.size());
    EXPECT_TRUE(result);
    return result ? result->bytes : Octets();
}
inline Octets result_of(const Octets& frame, anonymize::Data data = anonymize::Data::Replaced) {
    anonymize::Anonymizer anonymizer(data);
    return result_of(anonymizer, frame);
}

inline bool contains(util::Bytes bytes, util::Bytes what) {
    return std::search(bytes.begin(), bytes.end(), what.begin(), what.end()) != bytes.end();
}

template <typename T, std::size_t N>
void expect_gone(util::Bytes result, const std::array<T, N>& what) {
    EXPECT_FALSE(contains(result, std::as_bytes(std::span(what)))) << testing::PrintToString(what);
}

}  // namespace anonymize_test
