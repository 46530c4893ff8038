// For exported functions: finds the real function.
#pragma once

#include <cstdint>

#include "rocetrace/interpose/real.hpp"
#include "rocetrace/interpose/sink.hpp"

// `real`: the function of this name and version in the next library, looked up once; `call`: its
// name.
// NOLINTBEGIN(bugprone-macro-parentheses): `name` is a name, not an expression
#define REAL(library, name, version)              \
    static std::atomic<void*> found{nullptr};     \
    [[maybe_unused]] constexpr auto call = #name; \
    const auto real = real_once<decltype(&name)>(found, Library::library, call, version)
// NOLINTEND(bugprone-macro-parentheses)
