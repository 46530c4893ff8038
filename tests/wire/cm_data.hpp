// The data of a connection manager message, for tests.
#pragma once

#include <vector>

#include "wire/cm.hpp"
#include "wire/sample_frames.hpp"

namespace wire_test {

/// Byte n initially has the value n, so that an integer read at offset n begins with n. put()
/// replaces bytes.
class CmData {
  public:
    CmData() : bytes_(wire::Mad::data_size) {
        for (std::size_t i = 0; i < bytes_.size(); ++i)
            bytes_[i] = static_cast<std::byte>(i);
    }

    CmData& put(std::size_t at, std::string_view hex) {
        const auto bytes = from_hex(hex);
        std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(at));
        return *this;
    }

    util::Bytes bytes() const { return bytes_; }

    /// Spans of the result point into this. Throws std::bad_variant_access for another message.
    template <typename Message>
    Message parse_as(wire::CmAttribute attribute) const {
        const auto fixed = util::Bytes(bytes_).first<wire::Mad::data_size>();
        return std::get<Message>(
            wire::Cm::parse(static_cast<std::uint16_t>(attribute), fixed).body);
    }

    /// Returns whether `span` refers to the `size` bytes at offset `at`.
    bool is_at(util::Bytes span, std::size_t at, std::size_t size) const {
        return span.data() == bytes_.data() + at && span.size() == size;
    }

  private:
    std::vector<std::byte> bytes_;
};

}  // namespace wire_test
