#include "examples/common/tracer.hpp"

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <utility>

#include "rocetrace/interpose/sink.hpp"
#include "rocetrace/tracelog/contact.hpp"
#include "rocetrace/tracelog/merge.hpp"
#include "rocetrace/tracelog/record.hpp"
#include "util/check.hpp"

namespace common {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t all_times = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t hold_back_ns = 5'000'000;  // maximum delay between timestamp and publication

// The rings that the program's threads write to. They stay mapped: objects with static lifetime
// still call verbs at exit.
tracelog::RegionHeader* make_region() {
    constexpr std::uint32_t rings = 64;
    constexpr std::uint64_t ring_bytes = (16U << 20U) + tracelog::ring_header_bytes;
    constexpr std::size_t bytes = tracelog::RegionHeader::bytes + rings * ring_bytes;
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    util::check_errno(memory == MAP_FAILED ? -1 : 0, "mmap of the trace");
    auto* region = new (memory) tracelog::RegionHeader{};
    region->magic = tracelog::RegionHeader::expected_magic;
    region->ring_bytes = ring_bytes;
    region->rings = rings;
    return region;
}

// Writes the records into the log: periodically, and before each of the program's own events, so
// that the log is in chronological order.
class Tracer {
  public:
    static inline Tracer* current = nullptr;  // of the current run

    explicit Tracer(runlog::Log& log) : log_(log), header_(make_region()), region_(header_, pid()) {
        interpose::trace_into(header_);
        log_.before_each([this] { drain(all_times); });
        thread_ = std::thread([this] { write_from_time_to_time(); });
        current = this;
    }
    ~Tracer() {
        current = nullptr;
        {
            const std::scoped_lock lock(mutex_);
            is_over_ = true;
        }
        wake_.notify_one();
        thread_.join();
        try {
            drain(all_times);
        } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the run failed before
        }
        log_.before_each({});
    }
    Tracer(const Tracer&) = delete;
    Tracer& operator=(const Tracer&) = delete;
    Tracer(Tracer&&) = delete;
    Tracer& operator=(Tracer&&) = delete;

    /// Writes all calls so far; with `is_held`, stops writing.
    void write_and_hold(bool is_held) {
        const std::scoped_lock lock(mutex_);
        is_held_ = is_held;
        if (!failure_)
            take_or_fail(all_times);
    }

    /// Writes all calls so far. Throws util::Error like the log.
    void drain(std::int64_t until_ns) {
        const std::scoped_lock lock(mutex_);
        if (failure_)
            std::rethrow_exception(failure_);
        take(until_ns);
    }

  private:
    static std::uint32_t pid() { return static_cast<std::uint32_t>(getpid()); }

    void take(std::int64_t until_ns) {
        merge_.take(region_, until_ns);
        std::uint64_t dropped = region_.newly_homeless();
        for (const auto& ring : region_.rings())
            dropped += ring->reader.newly_dropped();
        if (dropped != 0)
            log_.write({runlog::now_ns(), log_.role(), "dropped", {{"records", dropped}}});
    }

    void take_or_fail(std::int64_t until_ns) {
        try {
            take(until_ns);
        } catch (...) {
            failure_ = std::current_exception();  // rethrown at the program's next event
        }
    }

    void write_from_time_to_time() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, nullptr);
        std::unique_lock lock(mutex_);
        while (!wake_.wait_for(lock, 20ms, [this] { return is_over_; }) && !failure_) {
            if (!is_held_)
                take_or_fail(runlog::now_ns() - hold_back_ns);
        }
    }

    runlog::Log& log_;
    tracelog::RegionHeader* header_;
    tracelog::Region region_;
    tracelog::Merge merge_{[this](std::span<const std::byte> record, const auto& writer) {
        auto event = tracelog::decode(record, log_.role(), writer);
        if (!event)
            return false;
        log_.write(*std::move(event));
        return true;
    }};
    std::mutex mutex_;
    std::condition_variable wake_;
    bool is_over_ = false;
    bool is_held_ = false;
    std::exception_ptr failure_;
    std::thread thread_;
};

}  // namespace

HeldTrace::HeldTrace() {
    write_and_hold(true);
}

void HeldTrace::write_and_hold(bool is_held) {
    if (Tracer::current != nullptr)
        Tracer::current->write_and_hold(is_held);
}

void trace_no_requests() {
    using tracelog::Category;
    std::uint32_t categories = UINT32_MAX;
    for (const Category requests : {Category::send, Category::recv, Category::wc, Category::event})
        categories &= ~static_cast<std::uint32_t>(requests);
    if (Tracer::current != nullptr)
        interpose::trace_only(categories);
}

common::CommandLine::Run traced(common::CommandLine::Run run) {
    if (std::getenv(tracelog::socket_variable) != nullptr)
        return run;
    return [run = std::move(run)](runlog::Log& log, util::StopSignal& stop) {
        Tracer tracer(log);
        const int status = run(log, stop);
        tracer.drain(all_times);
        return status;
    };
}

}  // namespace common
