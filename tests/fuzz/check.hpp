// Common to all fuzz targets: the exception for findings, and the checks of a packet.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "filter/field.hpp"
#include "wire/packet.hpp"

namespace fuzz {

/// A finding. Under libFuzzer it is not caught, so that libFuzzer saves the input. In the unit
/// tests, GoogleTest reports it.
class Finding : public std::logic_error {
    using std::logic_error::logic_error;
};

inline void require(bool holds, const std::string& words) {
    if (!holds)
        throw Finding(words);
}

/// Decodes the frame and checks its invariants and all its outputs: text, JSON, rows of all fields,
/// and filters. Throws Finding.
void look_at(util::Bytes frame, wire::LinkType link, std::size_t length,
             std::chrono::nanoseconds time = {});

}  // namespace fuzz
