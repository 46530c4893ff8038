// What the fuzz targets have in common: how a finding is told, and what is looked at in a packet.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "filter/field.hpp"
#include "wire/packet.hpp"

namespace fuzz {

/// A finding. Nothing catches it under libFuzzer, which keeps the input; in the unit tests
/// GoogleTest reports it.
class Finding : public std::logic_error {
    using std::logic_error::logic_error;
};

inline void require(bool holds, const std::string& words) {
    if (!holds)
        throw Finding(words);
}

/// Decodes the frame and looks at it through everything that shows packets: its invariants, text,
/// JSON, rows of all fields, and filters. Throws Finding.
void look_at(util::Bytes frame, wire::LinkType link, std::size_t length,
             std::chrono::nanoseconds time = {});

}  // namespace fuzz
