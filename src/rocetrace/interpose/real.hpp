// The functions of libibverbs and librdmacm that this library interposes.
#pragma once

#include <atomic>

#include "rocetrace/interpose/sink.hpp"

namespace interpose {

enum class Library { verbs, cm };

/// The function with this version, of the next library that has it; nullptr if there is none. Also
/// finds a library that the program has loaded locally (dlopen, RTLD_LOCAL).
void* find_real(Library library, const char* name, const char* version);

/// The same, cached in `found`. Concurrent lookups find the same function.
template <typename Function>
Function real_once(std::atomic<void*>& found, Library library, const char* name,
                   const char* version) {
    void* function = found.load(std::memory_order_acquire);
    if (function == nullptr) {
        function = find_real(library, name, version);
        found.store(function, std::memory_order_release);
    }
    return reinterpret_cast<Function>(function);
}

template <typename Function>
Function real(Library library, const char* name, const char* version) {
    return reinterpret_cast<Function>(find_real(library, name, version));
}

}  // namespace interpose

// For exported functions. `real`: the function of this name and version in the next library, looked
// up once; `call`: the call, which begins here.
// NOLINTBEGIN(bugprone-macro-parentheses): `name` is a name, not an expression
#define REAL_KIND(library, name, version, kind)                                            \
    static std::atomic<void*> found{nullptr};                                              \
    const auto real = real_once<decltype(&name)>(found, Library::library, #name, version); \
    [[maybe_unused]] OpenCall call(#name, OpenCall::Kind::kind)
// NOLINTEND(bugprone-macro-parentheses)
#define REAL(library, name, version) REAL_KIND(library, name, version, acts)
// For a function that waits for an event.
#define REAL_WAIT(library, name, version) REAL_KIND(library, name, version, waits)
