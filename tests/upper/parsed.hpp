// Parses a message of a protocol above RDMA, for tests.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "upper/message.hpp"
#include "wire/sample_frames.hpp"

namespace upper_test {

inline std::string text_of(const upper::Message& message) {
    std::string text;
    upper::append_text(text, message);
    return text;
}

/// The result is valid until the next call.
inline upper::Message parsed(const upper::Channel& channel, std::string_view hex) {
    // Without spare capacity, so that AddressSanitizer detects a read past the end.
    static std::optional<wire_test::ExactCopy> copy;
    copy.emplace(wire_test::from_hex(hex));
    const util::Bytes bytes = *copy;
    return upper::parse(channel, bytes, bytes.size());
}

}  // namespace upper_test
