// The fields that `set` may write, by the names of filter/field.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace emulator {

struct WritableField {
    std::string_view name;
    std::string_view header;  ///< as wire::HeaderSpan has it
    std::uint16_t bit = 0;    ///< from the header's first, the most significant of byte 0
    std::uint16_t width = 0;  ///< bits, 1 to 64

    std::uint64_t most() const { return width == 64 ? ~std::uint64_t{0} : (1ULL << width) - 1; }
};

std::span<const WritableField> writable_fields();

/// nullptr where none has this name.
const WritableField* find_writable(std::string_view name);

}  // namespace emulator
