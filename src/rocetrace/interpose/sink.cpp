#include "rocetrace/interpose/sink.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "rocetrace/interpose/arena.hpp"
#include "rocetrace/interpose/lock.hpp"
#include "rocetrace/interpose/share.hpp"
#include "rocetrace/tracelog/contact.hpp"

namespace interpose {
namespace {

using tracelog::RegionHeader;
using tracelog::RingHeader;

struct State {
    sockaddr_un address{};
    std::uint32_t only = 0;                 // none, unless rocetrace started the process
    std::uint64_t capacity = 16ULL << 20U;  // bytes of a ring
    bool active = false;
    bool clock_is_slow = false;
    bool failed = false;  // to connect to rocetrace: nothing is traced
    RegionHeader* region = nullptr;
    Layout layout;
    std::uint32_t begun = 0;  // rings
    Lock lock;
    pthread_key_t key = 0;
    bool has_key = false;
};

State state;
// initial-exec: the library is loaded at program start, so a lookup is one instruction.
[[gnu::tls_model("initial-exec")]] thread_local ThreadSink* own = nullptr;

std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 0);
}

std::byte* ring_at(std::uint32_t index) {
    return reinterpret_cast<std::byte*>(state.region) + RegionHeader::bytes +
           index * state.layout.ring_bytes;
}

// A ring that an ended thread has left, or a new one.
RingHeader* take_ring() {
    for (std::uint32_t i = 0; i < state.begun; ++i) {
        auto* ring = reinterpret_cast<RingHeader*>(ring_at(i));
        std::uint32_t in_use = 0;
        if (ring->in_use.compare_exchange_strong(in_use, 1))
            return ring;
    }
    if (state.begun == state.layout.rings)
        return nullptr;
    std::byte* at = ring_at(state.begun);
    if (syscall(SYS_mprotect, at, state.layout.ring_bytes, PROT_READ | PROT_WRITE) != 0)
        return nullptr;
    auto* ring = new (at) RingHeader{};
    ring->in_use.store(1);
    state.region->begun.store(++state.begun, std::memory_order_release);
    return ring;
}

void name_thread(ThreadSink& thread) {
    auto* record = static_cast<tracelog::Thread*>(thread.ring.reserve(sizeof(tracelog::Thread)));
    if (record == nullptr)
        return;
    *record = {{sizeof *record, tracelog::Kind::thread, 0, now()},
               static_cast<std::uint32_t>(syscall(SYS_gettid)),
               {}};
    prctl(PR_GET_NAME, record->name);
    thread.ring.publish();
}

void end_thread(void* value) {
    auto* thread = static_cast<ThreadSink*>(value);
    own = nullptr;  // another destructor may still call verbs
    if (thread->has_ring) {
        thread->ring.header()->open_calls.store(0,
                                                std::memory_order_relaxed);  // if it was cancelled
        thread->ring.header()->in_use.store(0, std::memory_order_release);
    }
    unmake(thread);
}

// A thread without a ring still needs its depth.
ThreadSink& sink_of_new_thread() {
    const int error = errno;
    [[gnu::tls_model("initial-exec")]] static thread_local ThreadSink homeless;
    auto* made = make<ThreadSink>();
    ThreadSink* thread = made != nullptr ? made : &homeless;
    {
        const Guard guard(state.lock);
        if (state.region == nullptr && !state.failed) {
            const Shared shared = share_region(state.address, state.capacity);
            state.region = shared.region;
            state.layout = shared.layout;
            state.begun = 0;
            state.failed = state.region == nullptr;
            state.clock_is_slow = is_clock_slow();
        }
        if (!state.has_key)
            state.has_key = pthread_key_create(&state.key, end_thread) == 0;
        RingHeader* ring = state.region == nullptr ? nullptr : take_ring();
        if (ring != nullptr) {
            thread->ring = tracelog::RingWriter(
                ring, reinterpret_cast<std::byte*>(ring) + tracelog::ring_header_bytes,
                state.layout.ring_bytes - tracelog::ring_header_bytes);
            thread->has_ring = true;
            thread->clock = Clock(state.clock_is_slow);
        }
    }
    own = thread;
    if (made != nullptr && state.has_key)
        pthread_setspecific(state.key, thread);
    if (thread->has_ring)
        name_thread(*thread);
    errno = error;
    return *thread;
}

}  // namespace

void begin_tracing() {
    const char* path = std::getenv(tracelog::socket_variable);
    if (path == nullptr || std::strlen(path) >= sizeof state.address.sun_path)
        return;
    state.address.sun_family = AF_UNIX;
    std::memcpy(state.address.sun_path, path, std::strlen(path) + 1);
    state.only = static_cast<std::uint32_t>(number_in(tracelog::only_variable, UINT32_MAX)) |
                 static_cast<std::uint32_t>(Category::always);
    const std::uint64_t mib = number_in(tracelog::buffer_variable, 16);
    state.capacity = std::bit_ceil(std::clamp<std::uint64_t>(mib, 1, 1024)) << 20U;
    state.active = true;
}

void leave() {
    if (state.region != nullptr)
        state.region->has_left.store(1, std::memory_order_relaxed);
}

bool is_tracing() {
    return state.active;
}

void trace_into(RegionHeader* region) {
    state.active = true;
    state.only = UINT32_MAX;
    state.clock_is_slow = is_clock_slow();
    state.region = region;
    state.layout = {region->ring_bytes, region->rings};
    state.begun = region->begun.load();
    own = nullptr;
}

void trace_only(std::uint32_t categories) {
    state.only = categories | static_cast<std::uint32_t>(Category::always);
}

bool wants(tracelog::Category category) {
    return (state.only & static_cast<std::uint32_t>(category)) != 0;
}

ThreadSink& sink() {
    return own != nullptr ? *own : sink_of_new_thread();
}

void lose(ThreadSink& thread, std::uint64_t records) {
    if (records == 0)
        return;
    if (thread.has_ring)
        thread.ring.drop(records);
    else if (state.region != nullptr)
        state.region->homeless.fetch_add(records, std::memory_order_relaxed);
}

void write(ThreadSink& thread, const EventBytes& event, std::int64_t t_ns) {
    if (!thread.has_ring) {
        lose(thread, 1);
        return;
    }
    const auto size = static_cast<std::uint32_t>(sizeof(tracelog::Header) + event.size());
    const std::uint32_t padded = (size + 7U) & ~7U;
    auto* record = static_cast<std::byte*>(thread.ring.reserve(padded));
    if (record == nullptr) {
        thread.ring.drop(1);
        return;
    }
    // The padding tells a reader where the event ends.
    const auto padding = static_cast<std::uint16_t>(padded - size);
    const tracelog::Header header{padded, tracelog::Kind::event, padding, t_ns};
    std::memcpy(record, &header, sizeof header);
    std::memcpy(record + sizeof header, event.data(), event.size());
    thread.ring.publish();
}

void log(const EventBytes& event) {
    if (!wants(event.category()))
        return;
    const int error = errno;
    ThreadSink& thread = sink();
    write(thread, event, thread.next_time());
    errno = error;
}

EventWriter<"failed"> failure(const char* call, int error) {
    EventWriter<"failed"> event;
    event.add(key::call, call).add(key::error, error);
    return event;
}

void begin_tracing_anew() {
    state.region = nullptr;
    state.failed = false;
    state.lock.reset();
    own = nullptr;
    if (state.has_key)
        pthread_setspecific(state.key, nullptr);
}

}  // namespace interpose
