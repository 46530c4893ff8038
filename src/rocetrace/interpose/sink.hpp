// The destination of the calling thread's records: its ring in the memory shared with rocetrace.
#pragma once

#include <cerrno>
#include <cstdint>
#include <type_traits>

#include "rocetrace/interpose/clock.hpp"
#include "rocetrace/tracelog/event_writer.hpp"
#include "rocetrace/tracelog/record.hpp"
#include "rocetrace/tracelog/ring.hpp"

namespace interpose {

/// Reads the environment. Nothing is shared with rocetrace before the first record is written.
void begin_tracing();
/// Whether rocetrace started this process.
bool is_tracing();
/// Traces into rings of this process instead, for a lesson, a test or a benchmark: `region` has the
/// layout of tracelog::RegionHeader. Must be called before the first verbs call.
void trace_into(tracelog::RegionHeader* region);
/// Records only these categories from now on, one bit per tracelog::Category. Must be called by the
/// only thread that calls verbs.
void trace_only(std::uint32_t categories);

/// Whether records of this category are wanted.
bool wants(tracelog::Category category);

struct ThreadSink {
    tracelog::RingWriter ring;
    Clock clock;
    bool has_ring = false;
    unsigned depth = 0;  // logged calls of the real library that this thread is in
};

/// The calling thread's sink; created at its first call.
ThreadSink& sink();

/// Writes the event with the current time. errno does not change.
void log(const tracelog::EventWriter& event);

/// A call that failed: the event "failed" with the name of the call and its error.
tracelog::EventWriter failure(const char* call, int error);

/// An object that no longer exists: the event "destroyed", with the key that identifies the object.
template <typename Value>
tracelog::EventWriter destroyed(tracelog::Category category, const char* what, const char* key,
                                Value value) {
    tracelog::EventWriter event(category, "destroyed");
    event.add_text("what", what);
    if constexpr (std::is_integral_v<Value>)
        event.add(key, static_cast<std::uint64_t>(value));
    else
        event.add_text(key, value);
    return event;
}

/// Logs the event if the call returned 0, else "failed": libibverbs returns the error number,
/// librdmacm -1. Preserves the call's result and errno.
inline int done(const char* call, int rc, const tracelog::EventWriter& event) {
    const int error = errno;
    log(rc == 0 ? event : failure(call, rc > 0 ? rc : error));
    errno = error;
    return rc;
}

/// Calls `describe` to log a new object, or logs "failed" if there is none. Preserves errno.
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

inline std::uint64_t address_of(const void* object) {
    return reinterpret_cast<std::uintptr_t>(object);
}

/// While it exists, verbs calls by the real library itself are not logged.
class Inside {
  public:
    explicit Inside(ThreadSink& thread) : thread_(thread) { ++thread_.depth; }
    ~Inside() { --thread_.depth; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    Inside(Inside&&) = delete;
    Inside& operator=(Inside&&) = delete;

  private:
    ThreadSink& thread_;
};

/// For the child of a fork, which shares nothing with rocetrace yet.
void begin_tracing_anew();

}  // namespace interpose
