#include "rocetrace/interpose/sink.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "rocetrace/interpose/arena.hpp"
#include "rocetrace/interpose/lock.hpp"
#include "rocetrace/interpose/raw.hpp"
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
    Lock lock;
    pthread_key_t key = 0;
    bool has_key = false;
};

State state;
// initial-exec: the library is loaded at program start, so a lookup is one instruction.
[[gnu::tls_model("initial-exec")]] thread_local ThreadSink* own = nullptr;

constexpr std::uint32_t most_rings = 512;

void complain(const char* what, const char* why) {
    std::array<char, 512> text{};
    std::size_t size = 0;
    const auto put = [&](const char* part) {
        for (; *part != '\0' && size < text.size() - 1; ++part)
            text[size++] = *part;
    };
    put("rocetrace: this process is not traced: ");
    put(what);
    put(": ");
    put(why);
    put(".\n");
    syscall(SYS_write, STDERR_FILENO, text.data(), size);
}

std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 0);
}

bool send_descriptor(int socket, int fd) {
    char byte = 'r';
    iovec data{&byte, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof fd)> control{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    return syscall(SYS_sendmsg, socket, &message, MSG_NOSIGNAL) == 1;
}

bool hand_over(int fd) {
    const long socket = syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (socket < 0)
        return false;
    const bool sent = syscall(SYS_connect, socket, &state.address, sizeof state.address) == 0 &&
                      send_descriptor(static_cast<int>(socket), fd);
    const int error = errno;
    raw::close(static_cast<int>(socket));
    errno = error;
    return sent;
}

// Copies the command line of this process, which may end before rocetrace can read it in /proc.
template <std::size_t size>
void copy_command_line(char (&command)[size]) {
    const long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    syscall(SYS_read, fd, command, size - 1);
    raw::close(static_cast<int>(fd));
}

// Reserves all memory at once, so that no descriptor has to stay open in the program, which could
// close it and reuse its number.
RegionHeader* share_region() {
    const std::uint64_t ring_bytes = state.capacity + tracelog::ring_header_bytes;
    const std::size_t bytes = RegionHeader::bytes + most_rings * ring_bytes;
    const long fd = syscall(SYS_memfd_create, "rocetrace", 1U /* MFD_CLOEXEC */);
    if (fd < 0) {
        complain("memfd_create", std::strerror(errno));
        return nullptr;
    }
    void* memory = nullptr;
    if (syscall(SYS_ftruncate, fd, bytes) == 0)
        memory = raw::map(bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, static_cast<int>(fd));
    if (memory == nullptr ||
        syscall(SYS_mprotect, memory, RegionHeader::bytes, PROT_READ | PROT_WRITE) != 0) {
        complain("mmap", std::strerror(errno));
        raw::close(static_cast<int>(fd));
        return nullptr;
    }
    auto* region = new (memory) RegionHeader{};
    region->ring_bytes = ring_bytes;
    region->rings = most_rings;
    region->pid = static_cast<std::uint32_t>(getpid());
    region->t_ns = now();
    prctl(PR_GET_NAME, region->comm);
    copy_command_line(region->command);
    region->magic = RegionHeader::expected_magic;
    const bool handed = hand_over(static_cast<int>(fd));
    if (!handed)
        complain(state.address.sun_path, std::strerror(errno));
    raw::close(static_cast<int>(fd));
    return handed ? region : nullptr;
}

std::byte* ring_at(std::uint32_t index) {
    return reinterpret_cast<std::byte*>(state.region) + RegionHeader::bytes +
           index * state.region->ring_bytes;
}

// A ring that an ended thread has left, or a new one.
RingHeader* take_ring() {
    const std::uint32_t begun = state.region->begun.load();
    for (std::uint32_t i = 0; i < begun; ++i) {
        auto* ring = reinterpret_cast<RingHeader*>(ring_at(i));
        std::uint32_t in_use = 0;
        if (ring->in_use.compare_exchange_strong(in_use, 1))
            return ring;
    }
    if (begun == state.region->rings)
        return nullptr;
    std::byte* at = ring_at(begun);
    if (syscall(SYS_mprotect, at, state.region->ring_bytes, PROT_READ | PROT_WRITE) != 0)
        return nullptr;
    auto* ring = new (at) RingHeader{};
    ring->in_use.store(1);
    state.region->begun.store(begun + 1, std::memory_order_release);
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
            state.region = share_region();
            state.failed = state.region == nullptr;
            state.clock_is_slow = is_clock_slow();
        }
        if (!state.has_key)
            state.has_key = pthread_key_create(&state.key, end_thread) == 0;
        RingHeader* ring = state.region == nullptr ? nullptr : take_ring();
        if (ring != nullptr) {
            thread->ring = tracelog::RingWriter(
                ring, reinterpret_cast<std::byte*>(ring) + tracelog::ring_header_bytes,
                state.region->ring_bytes - tracelog::ring_header_bytes);
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
                 static_cast<std::uint32_t>(tracelog::Category::always);
    const std::uint64_t mib = number_in(tracelog::buffer_variable, 16);
    state.capacity = std::bit_ceil(std::clamp<std::uint64_t>(mib, 1, 1024)) << 20U;
    state.active = true;
}

bool is_tracing() {
    return state.active;
}

void trace_into(RegionHeader* region) {
    state.active = true;
    state.only = UINT32_MAX;
    state.clock_is_slow = is_clock_slow();
    state.region = region;
    own = nullptr;
}

void trace_only(std::uint32_t categories) {
    state.only = categories | static_cast<std::uint32_t>(tracelog::Category::always);
}

bool wants(tracelog::Category category) {
    return (state.only & static_cast<std::uint32_t>(category)) != 0;
}

ThreadSink& sink() {
    return own != nullptr ? *own : sink_of_new_thread();
}

namespace {

void write(ThreadSink& thread, const tracelog::EventWriter& event, std::int64_t t_ns) {
    if (!thread.has_ring) {
        if (state.region != nullptr)
            state.region->homeless.fetch_add(1, std::memory_order_relaxed);
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

// When the last call that destroys an object has begun.
std::atomic<std::int64_t> last_destruction_ns{0};

}  // namespace

void log(const tracelog::EventWriter& event) {
    if (!wants(event.category()))
        return;
    const int error = errno;
    ThreadSink& thread = sink();
    write(thread, event, thread.next_time());
    errno = error;
}

OpenCall::OpenCall(const char* name, Kind kind)
    : name_(name),
      kind_(kind),
      thread_(is_tracing() ? &sink() : nullptr),
      begun_(tracelog::Category::always, "begun") {
    if (thread_ == nullptr)
        return;
    begun_.add_text("call", name);
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
    if (!thread_->has_ring || index >= RingHeader::most_open_calls ||
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

void OpenCall::with(const tracelog::EventWriter& arguments) {
    if (thread_ == nullptr)
        return;
    begun_.add_fields(arguments);
    open();
}

void OpenCall::begin_again() {
    if (thread_ == nullptr)
        return;
    begin_ns_ = thread_->next_time();
    open();
}

void OpenCall::destroys() {
    std::int64_t last = last_destruction_ns.load(std::memory_order_relaxed);
    while (last < begin_ns_ && !last_destruction_ns.compare_exchange_weak(last, begin_ns_)) {
    }
}

void OpenCall::log(const tracelog::EventWriter& event) const {
    log_from(event, begin_ns_);
}

// The object may have the number of one that another thread has destroyed during the call.
void OpenCall::log_made(const tracelog::EventWriter& event) const {
    log_from(event, std::max(begin_ns_, last_destruction_ns.load() + 1));
}

void OpenCall::log_from(const tracelog::EventWriter& event, std::int64_t begin_ns) const {
    constexpr std::int64_t ns_per_us = 1000;
    if (thread_ == nullptr || !wants(event.category()))
        return;
    const int error = errno;
    const std::int64_t end_ns = thread_->next_time();
    const auto passed_us =
        static_cast<std::uint64_t>(std::max<std::int64_t>(end_ns - begin_ns, 0) / ns_per_us);
    tracelog::EventWriter timed(event);
    timed.add(kind_ == Kind::waits ? "waited_us" : "took_us", passed_us);
    write(*thread_, timed, kind_ == Kind::waits ? end_ns : begin_ns);
    errno = error;
}

void OpenCall::log_failure(int error, const tracelog::EventWriter* more) const {
    // The name of the call comes first in both, then the error.
    tracelog::EventWriter event = failure(name_, error);
    event.add_fields_after_first(begun_);
    if (more != nullptr)
        event.add_fields(*more);
    log(event);
}

tracelog::EventWriter failure(const char* call, int error) {
    tracelog::EventWriter event(tracelog::Category::always, "failed");
    event.add_text("call", call).add_error(error);
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
