// The fields that `set` can write, named as in filter/field.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "wire/trail.hpp"

namespace emulator {

struct WritableField {
    std::string_view name;
    wire::Header header{};
    std::uint16_t bit = 0;    ///< offset in the header; 0: the most significant bit of byte 0
    std::uint16_t width = 0;  ///< bits, 1 to 64

    std::uint64_t most() const { return width == 64 ? ~std::uint64_t{0} : (1ULL << width) - 1; }
};

std::span<const WritableField> writable_fields();

/// Returns nullptr if the field does not exist or cannot be set.
const WritableField* find_writable(std::string_view name);

}  // namespace emulator
