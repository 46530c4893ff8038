// What happens when librocetrace.so is loaded, and in the child of a fork. A lesson, which logs its own
// calls, is linked without it.
#include <pthread.h>

#include "rocetrace/interpose/context.hpp"
#include "rocetrace/interpose/sink.hpp"

namespace {

// The parent's rings are not the child's to write to; a lock may have been held by a thread that
// the child does not have.
void begin_child() {
    interpose::begin_tracing_anew();
    interpose::reset_locks();
}

[[gnu::constructor]] void begin() {
    interpose::begin_tracing();
    if (interpose::is_tracing())
        pthread_atfork(nullptr, nullptr, begin_child);
}

}  // namespace
