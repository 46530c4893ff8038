#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "rocetrace/interpose/sink.hpp"

namespace interpose {
namespace {

// When the last call that destroys an object has begun.
std::atomic<std::int64_t> last_destruction_ns{0};

}  // namespace

OpenCall::OpenCall(const char* name, Kind kind)
    : name_(name), kind_(kind), thread_(is_tracing() ? &sink() : nullptr) {
    if (thread_ == nullptr)
        return;
    begun_.add(key::call, name);
    begin_ns_ = thread_->next_time();
    ++thread_->open_calls;
    open();
}

OpenCall::~OpenCall() {
    if (thread_ == nullptr)
        return;
    --thread_->open_calls;
    if (thread_->has_ring)
        thread_->ring.header()->open_calls.store(thread_->open_calls, std::memory_order_release);
}

// The reader reads a slot again if its begin has changed meanwhile.
void OpenCall::open() {
    const unsigned index = thread_->open_calls - 1;
    if (!thread_->has_ring || index >= tracelog::RingHeader::most_open_calls ||
        begun_.size() > sizeof(tracelog::OpenCallSlot::bytes))
        return;
    tracelog::OpenCallSlot& slot = thread_->ring.header()->slots[index];
    slot.begin_ns.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    for (std::size_t at = 0; at < begun_.size(); at += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, begun_.data() + at, std::min(sizeof word, begun_.size() - at));
        slot.bytes[at / sizeof word].store(word, std::memory_order_relaxed);
    }
    slot.size.store(static_cast<std::uint32_t>(begun_.size()), std::memory_order_relaxed);
    slot.waits.store(static_cast<std::uint32_t>(kind_ == Kind::waits), std::memory_order_relaxed);
    slot.begin_ns.store(begin_ns_, std::memory_order_release);
    thread_->ring.header()->open_calls.store(thread_->open_calls, std::memory_order_release);
}

void OpenCall::with(const EventBytes& arguments) {
    if (thread_ == nullptr)
        return;
    begun_.put_fields(arguments);
    open();
}

void OpenCall::begin_again() {
    if (thread_ == nullptr)
        return;
    begin_ns_ = thread_->next_time();
    open();
}

void OpenCall::destroys(const EventWriter<"destroyed">& arguments) {
    std::int64_t last = last_destruction_ns.load(std::memory_order_relaxed);
    while (last < begin_ns_ && !last_destruction_ns.compare_exchange_weak(last, begin_ns_)) {
    }
    with(arguments);
}

void OpenCall::log(const EventBytes& event) const {
    log_from(event, begin_ns_);
}

// The object may have the number of one that another thread has destroyed during the call.
void OpenCall::log_made(const EventBytes& event) const {
    log_from(event, std::max(begin_ns_, last_destruction_ns.load() + 1));
}

void OpenCall::log_from(const EventBytes& event, std::int64_t begin_ns) const {
    constexpr std::int64_t ns_per_us = 1000;
    if (thread_ == nullptr || !wants(event.category()))
        return;
    const int error = errno;
    const std::int64_t end_ns = thread_->next_time();
    const auto passed_us =
        static_cast<std::uint64_t>(std::max<std::int64_t>(end_ns - begin_ns, 0) / ns_per_us);
    EventBytes timed(event);
    timed.put(kind_ == Kind::waits ? key::waited_us : key::took_us, passed_us);
    write(*thread_, timed, kind_ == Kind::waits ? end_ns : begin_ns);
    errno = error;
}

void OpenCall::log_failure(int error, const EventBytes* more) const {
    // The name of the call comes first in both, then the error.
    EventWriter<"failed"> event = failure(name_, error);
    event.put_fields_after_first(begun_);
    if (more != nullptr)
        event.put_fields(*more);
    log(event);
}

}  // namespace interpose
