// The destination of the calling thread's records: its ring in the memory shared with rocetrace.
#pragma once

#include <cstdint>

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
