// Constructs a value inside an optional.
#pragma once

#include <optional>

namespace util {

/// Stores the result of `make`, constructed in place instead of copied. This matters for small
/// structs of bytes: a copy reads as words what has just been written as bytes, and the
/// store-forwarding stall takes longer than parsing a header.
template <typename T, typename Make>
T& emplace_result(std::optional<T>& optional, Make make) {
    struct Result {
        Make& make;
        operator T() const { return make(); }
    };
    return optional.emplace(Result{make});
}

}  // namespace util
