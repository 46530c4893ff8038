// Building a value inside an optional.
#pragma once

#include <optional>

namespace util {

/// What `make` returns, built where it will stand instead of copied there. For small structs of
/// bytes that matters: a copy reads in words what has just been written byte by byte, and the
/// processor waits for that longer than parsing a header takes.
template <typename T, typename Make>
T& emplace_result(std::optional<T>& optional, Make make) {
    struct Result {
        Make& make;
        operator T() const { return make(); }
    };
    return optional.emplace(Result{make});
}

}  // namespace util
