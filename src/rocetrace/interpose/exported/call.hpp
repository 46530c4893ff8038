// For exported functions: finds the real function, and logs the call.
#pragma once

#include <cerrno>
#include <cstdint>

#include "rocetrace/interpose/real.hpp"
#include "rocetrace/interpose/sink.hpp"

// The function of this name and version in the next library, looked up once.
// NOLINTBEGIN(bugprone-macro-parentheses): `name` is a name, not an expression
#define REAL(library, name, version)                         \
    static std::atomic<void*> found_##name{nullptr};         \
    const auto real = interpose::real_once<decltype(&name)>( \
        found_##name, interpose::Library::library, #name, version)
// NOLINTEND(bugprone-macro-parentheses)

namespace interpose {

inline std::uint64_t address_of(const void* object) {
    return reinterpret_cast<std::uintptr_t>(object);
}

/// Logs the event if the call returned 0, else "failed": libibverbs returns the error number,
/// librdmacm -1. Preserves the call's result and errno.
inline int done(const char* call, int rc, const tracelog::EventWriter& event) {
    const int error = errno;
    log(rc == 0 ? event : failure(call, rc > 0 ? rc : error));
    errno = error;
    return rc;
}

/// Logs what `describe` returns for a new object, or "failed" if there is none. Preserves the errno
/// of the real call.
template <typename Object, typename Describe>
Object* made(const char* call, Object* object, Describe describe) {
    const int error = errno;
    if (object == nullptr)
        log(failure(call, error));
    else
        describe(*object);
    errno = error;
    return object;
}

inline tracelog::EventWriter destroyed(tracelog::Category category, const char* what) {
    tracelog::EventWriter event(category, "destroyed");
    event.add_text("what", what);
    return event;
}

}  // namespace interpose
