// Starts tracing when librocetrace.so is loaded, and in the child of a fork, and notes that the process ends by itself. A lesson logs its own
// calls and is linked without this file.
#include <pthread.h>

#include "rocetrace/interpose/context.hpp"
#include "rocetrace/interpose/sink.hpp"

namespace {

// The child must not write to the parent's rings. A lock may be held by a thread that the child
// does not have.
void begin_child() {
    interpose::begin_tracing_anew();
    interpose::reset_locks();
}

[[gnu::constructor]] void begin() {
    interpose::begin_tracing();
    if (interpose::is_tracing())
        pthread_atfork(nullptr, nullptr, begin_child);
}

[[gnu::destructor]] void end() {
    interpose::leave();
}

}  // namespace
