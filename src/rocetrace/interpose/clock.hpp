// The time of records: CLOCK_REALTIME, cheap enough for the data path.
//
// If the kernel reads the CPU's counter, clock_gettime() takes some 20 ns. If it reads a timer of
// the machine (hpet, mostly in virtual machines), it is a system call and a device access, for
// which other devices may have to wait. In that case a thread reads the time once per millisecond,
// and the CPU's counter in between.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace interpose {

/// CLOCK_REALTIME in nanoseconds since 1970.
inline std::int64_t now() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

/// Whether the kernel's clock is so slow that using the counter is worthwhile.
inline bool is_clock_slow() {
    constexpr std::int64_t slow = 300;
    std::int64_t shortest = slow;
    for (int i = 0; i < 4; ++i) {
        const std::int64_t begin = now();
        shortest = std::min(shortest, now() - begin);
    }
    return shortest >= slow;
}

/// A thread's clock. Its times never go back by less than a hundredth of a second.
class Clock {
  public:
    /// `counts`: whether to use the CPU's counter.
    explicit Clock(bool counts = false) : counts_(counts) {}

    std::int64_t read() {
#if defined(__x86_64__)
        if (counts_)
            return read_counter();
#endif
        return now();
    }

  private:
#if defined(__x86_64__)
    std::int64_t read_counter() {
        unsigned cpu = 0;
        const std::uint64_t count = __rdtscp(&cpu);
        const std::uint64_t passed = count - count_;
        // The counters of two CPUs may differ.
        if (cpu != cpu_ || passed >= span_)
            return anchor(count, cpu);
        const auto t_ns =
            anchor_ns_ + static_cast<std::int64_t>((passed * ns_per_count_) >> fraction);
        return last_ns_ = std::max(t_ns, last_ns_);
    }

    std::int64_t anchor(std::uint64_t count, unsigned cpu) {
        constexpr std::int64_t shortest = 20'000;  // nanoseconds: less would be too inaccurate
        constexpr std::int64_t longest = 1'000'000'000;
        constexpr std::int64_t small_step = 10'000'000;
        const std::int64_t t_ns = now();
        const std::int64_t passed_ns = t_ns - anchor_ns_;
        if (cpu == cpu_ && count > count_ && passed_ns < shortest && passed_ns >= 0)
            return last_ns_ = std::max(t_ns, last_ns_);
        if (cpu == cpu_ && count > count_ && passed_ns < longest && passed_ns > 0) {
            ns_per_count_ = (static_cast<std::uint64_t>(passed_ns) << fraction) / (count - count_);
            span_ = ns_per_count_ == 0 ? 0 : (1'000'000ULL << fraction) / ns_per_count_;
        } else if (cpu != cpu_) {
            span_ = 0;  // another counter: its rate is not known yet
        }
        count_ = count;
        cpu_ = cpu;
        anchor_ns_ = t_ns;
        last_ns_ = last_ns_ - t_ns < small_step ? std::max(t_ns, last_ns_) : t_ns;
        return last_ns_;
    }

    static constexpr unsigned fraction = 24;  // fractional bits of ns_per_count_

    std::uint64_t count_ = 0;
    std::uint64_t span_ = 0;  // how long the rate is trusted, in counts
    std::uint64_t ns_per_count_ = 0;
    std::int64_t anchor_ns_ = 0;
    std::int64_t last_ns_ = 0;
    unsigned cpu_ = UINT32_MAX;
#endif
    bool counts_;
};

}  // namespace interpose
