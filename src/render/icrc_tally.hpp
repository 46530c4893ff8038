// Counts the good, bad and unchecked invariant CRCs of a capture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "util/json.hpp"
#include "wire/packet.hpp"

namespace render {

class IcrcTally {
  public:
    /// The packet must have been decoded with its ICRC computed.
    void add(const wire::Packet& packet);

    std::uint64_t bad() const { return bad_; }
    std::uint64_t malformed() const { return malformed_; }
    std::uint64_t checked() const { return good_ + bad_; }

    /// Lines for a terminal. Omits counts of 0, except good, bad and unchecked.
    std::string text() const;
    /// {"packets", "roce", "icrc": {"good", "bad", "unchecked"}, "unchecked": {reason: packets},
    /// "malformed", "not_roce", "right_with_srcport"}. Every packet is one of good, bad, unchecked,
    /// malformed, not_roce; "right_with_srcport" is a subset of the bad ones.
    util::Json json() const;

  private:
    void add_bad(const wire::Packet& packet);
    std::uint64_t unchecked() const;

    std::uint64_t packets_ = 0;
    std::uint64_t roce_ = 0;
    std::uint64_t good_ = 0;
    std::uint64_t bad_ = 0;
    std::uint64_t right_with_srcport_ = 0;             // subset of bad_
    std::uint64_t unexplained_ = 0;                    // the same, without a hint
    std::map<std::string_view, std::uint64_t> hints_;  // wire::IcrcHint::cause() -> packets
    std::uint64_t malformed_ = 0;
    std::uint64_t not_roce_ = 0;
    std::map<std::string_view, std::uint64_t> unchecked_;  // reason -> packets; few, static texts
};

}  // namespace render
