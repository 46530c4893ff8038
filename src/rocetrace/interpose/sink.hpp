// The destination of the calling thread's records: its ring in the memory shared with rocetrace.
#pragma once

#include <cerrno>
#include <cstdint>

#include "rocetrace/interpose/clock.hpp"
#include "rocetrace/tracelog/event_writer.hpp"
#include "rocetrace/tracelog/record.hpp"
#include "rocetrace/tracelog/ring.hpp"

namespace interpose {

namespace key = runlog::key;
using tracelog::Category;
using tracelog::EventBytes;
using tracelog::EventWriter;

/// Reads the environment. Nothing is shared with rocetrace before the first record is written.
void begin_tracing();
/// The process is about to end by itself.
void leave();
/// Whether rocetrace started this process.
bool is_tracing();
/// Traces into rings of this process instead, for a lesson, a test or a benchmark: `region` has the
/// layout of tracelog::RegionHeader. Must be called before the first verbs call.
void trace_into(tracelog::RegionHeader* region);
/// Records only these categories from now on, one bit per tracelog::Category. Must be called by the
/// only thread that calls verbs.
void trace_only(std::uint32_t categories);

/// Whether records of this category are wanted.
bool wants(Category category);

struct ThreadSink {
    tracelog::RingWriter ring;
    Clock clock;
    bool has_ring = false;
    unsigned depth = 0;  // logged calls of the real library that this thread is in
    unsigned open_calls = 0;
    std::int64_t event_ns = 0;  // the last time that next_time() returned

    /// The time, later than that of all events before: a call begins before the calls inside it.
    std::int64_t next_time() {
        constexpr std::int64_t small_step = 10'000'000;  // unless the clock was set back
        const std::int64_t t_ns = clock.read();
        const bool repeats = t_ns <= event_ns && event_ns - t_ns < small_step;
        return event_ns = repeats ? event_ns + 1 : t_ns;
    }
};

/// The calling thread's sink; created at its first call.
ThreadSink& sink();

/// Counts records that were not written.
void lose(ThreadSink& thread, std::uint64_t records);
void write(ThreadSink& thread, const EventBytes& event, std::int64_t t_ns);
/// Writes the event with the current time. errno does not change.
void log(const EventBytes& event);

/// A call that failed: the event "failed" with the name of the call and its error.
EventWriter<"failed"> failure(const char* call, int error);

/// A call from its begin to its return. rocetrace can see it before it returns, and also if the
/// process is killed before. Preserves errno.
class OpenCall {
  public:
    /// waits: the call returns what another end has done, so its event has the time of the return,
    /// and `waited_us`. Otherwise it has the time of the begin, and `took_us`.
    enum class Kind : std::uint8_t { acts, waits };

    explicit OpenCall(const char* name, Kind kind = Kind::acts);
    ~OpenCall();
    OpenCall(const OpenCall&) = delete;
    OpenCall& operator=(const OpenCall&) = delete;
    OpenCall(OpenCall&&) = delete;
    OpenCall& operator=(OpenCall&&) = delete;

    const char* name() const { return name_; }
    /// Adds the event's fields to what describes the call if it fails or does not return.
    void with(const EventBytes& arguments);
    /// It begins now: what was done since then is not part of the call.
    void begin_again();
    /// It destroys an object, with these arguments: whatever may get the object's number is logged
    /// with a later time.
    void destroys(const EventWriter<"destroyed">& arguments);

    /// Logs the event.
    void log(const EventBytes& event) const;
    /// The same for an object that the call has made.
    void log_made(const EventBytes& event) const;
    /// Logs "failed" with the call's arguments and `more`.
    void log_failure(int error, const EventBytes* more = nullptr) const;

  private:
    void open();
    void log_from(const EventBytes& event, std::int64_t begin_ns) const;

    const char* name_;
    Kind kind_;
    ThreadSink* thread_;
    std::int64_t begin_ns_ = 0;
    EventWriter<"begun"> begun_;
};

/// An object that the call destroys: the event "destroyed", with the key that identifies the
/// object.
inline EventWriter<"destroyed"> destroyed(OpenCall& call, Category category, const char* what,
                                          EventWriter<"destroyed">::Own<runlog::NumberKey> own,
                                          tracelog::Number auto value) {
    EventWriter<"destroyed"> event(category);
    event.add(key::what, what).add(own, value);
    call.destroys(event);
    return event;
}

/// Logs the event if the call returned 0, else "failed": libibverbs returns the error number,
/// librdmacm -1. Preserves the call's result and errno.
inline int done(const OpenCall& call, int rc, const EventBytes& event) {
    const int error = errno;
    if (rc == 0)
        call.log(event);
    else
        call.log_failure(rc > 0 ? rc : error);
    errno = error;
    return rc;
}

/// Logs a new object with the event that `describe` returns, or "failed" if there is none.
/// Preserves errno.
template <typename Object, typename Describe>
Object* made(const OpenCall& call, Object* object, Describe describe) {
    const int error = errno;
    if (object == nullptr)
        call.log_failure(error);
    else
        call.log_made(describe(*object));
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
