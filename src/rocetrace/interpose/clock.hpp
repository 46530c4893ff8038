// The time of records: CLOCK_REALTIME, cheap enough for the data path.
//
// If the kernel reads the CPU's counter, clock_gettime() takes some 20 ns. If it reads a timer of
// the machine (hpet, mostly in virtual machines), it is a system call and a device access, for
// which other devices may have to wait. In that case a thread reads the time every 1 to 10 ms, and
// the CPU's counter in between.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
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

/// The clocks of this machine; tests have others.
struct MachineClocks {
    static std::int64_t now() { return interpose::now(); }
    /// The CPU's counter; sets the number of the CPU.
    static std::uint64_t count([[maybe_unused]] unsigned& cpu) {
#if defined(__x86_64__)
        return __rdtscp(&cpu);
#else
        return 0;
#endif
    }
};

/// A thread's clock. Its times never go back by less than a hundredth of a second.
template <typename Clocks>
class ClockOf {
  public:
    /// `counts`: whether to use the CPU's counter.
    explicit ClockOf(bool counts = false) : counts_(counts) {}

    std::int64_t read() {
#if defined(__x86_64__)
        if (counts_)
            return read_counter();
#endif
        return Clocks::now();
    }

  private:
#if defined(__x86_64__)
    std::int64_t read_counter() {
        unsigned cpu = 0;
        const std::uint64_t count = Clocks::count(cpu);
        const std::uint64_t passed = count - count_;
        // The counters of two CPUs may differ.
        if (cpu != cpu_ || passed >= span_)
            return anchor();
        const auto t_ns =
            anchor_ns_ + static_cast<std::int64_t>((passed * ns_per_count_) >> fraction);
        return last_ns_ = std::max(t_ns, last_ns_);
    }

    // A reading of both clocks. `width`: how far apart they may be, in counts.
    struct Pair {
        std::uint64_t count = 0;
        std::uint64_t width = 0;
        std::int64_t t_ns = 0;
        unsigned cpu = 0;
    };

    static Pair read_both() {
        Pair pair;
        unsigned cpu = 0;
        const std::uint64_t before = Clocks::count(cpu);
        pair.t_ns = Clocks::now();
        pair.width = Clocks::count(pair.cpu) - before;
        if (pair.cpu != cpu)
            pair.width = UINT64_MAX;
        pair.count = before + pair.width / 2;
        return pair;
    }

    // If the thread is interrupted between the two readings, they differ by the interruption: a rate
    // from such a pair would let the time run ahead. So the narrowest of three pairs counts, and a
    // wide one is used for this time only.
    std::int64_t anchor() {
        constexpr int tries = 3;
        constexpr std::uint64_t narrow = 2;  // times the narrowest
        constexpr std::uint64_t wide = 8;
        Pair pair = read_both();
        const bool is_first = narrowest_ == UINT64_MAX;
        for (int i = 1; i < tries && (is_first || pair.width / narrow > narrowest_); ++i)
            if (const Pair again = read_both(); again.width < pair.width)
                pair = again;
        narrowest_ = std::min(narrowest_, pair.width);
        if (pair.width / wide <= narrowest_)
            set(pair);
        else
            span_ = 0;
        constexpr std::int64_t small_step = 10'000'000;
        last_ns_ = last_ns_ - pair.t_ns < small_step ? std::max(pair.t_ns, last_ns_) : pair.t_ns;
        return last_ns_;
    }

    // The rate is that since the first pair: the longer ago, the smaller is the error of a pair.
    void set(const Pair& pair) {
        constexpr std::int64_t shortest = 500'000;          // nanoseconds: less is too inaccurate
        constexpr std::int64_t longest = 60'000'000'000;    // the shift by `fraction` fits
        constexpr std::int64_t largest_error = 10'000'000;  // more: the clock was set
        const std::int64_t passed_ns = pair.t_ns - first_.t_ns;
        const std::int64_t expected_ns =
            anchor_ns_ +
            static_cast<std::int64_t>(((pair.count - count_) * ns_per_count_) >> fraction);
        const bool was_set = ns_per_count_ != 0 && pair.t_ns - anchor_ns_ < 1'000'000'000 &&
                             std::abs(pair.t_ns - expected_ns) > largest_error;
        if (pair.cpu != cpu_ || passed_ns < 0 || passed_ns > longest || was_set) {
            first_ = pair;
            span_ = 0;
            if (pair.cpu != cpu_)
                ns_per_count_ = 0;  // another counter: its rate is not known yet
        } else if (passed_ns >= shortest) {
            ns_per_count_ =
                (static_cast<std::uint64_t>(passed_ns) << fraction) / (pair.count - first_.count);
        }
        // The longer the rate has been measured, the longer it is accurate to some microseconds.
        const auto span_ns = static_cast<std::uint64_t>(
            std::clamp<std::int64_t>(passed_ns / 16, 1'000'000, 10'000'000));
        span_ = ns_per_count_ == 0 ? 0 : (span_ns << fraction) / ns_per_count_;
        count_ = pair.count;
        cpu_ = pair.cpu;
        anchor_ns_ = pair.t_ns;
    }

    static constexpr unsigned fraction = 24;  // fractional bits of ns_per_count_

    std::uint64_t count_ = 0;
    std::uint64_t span_ = 0;  // how long the rate is trusted, in counts
    std::uint64_t ns_per_count_ = 0;
    std::uint64_t narrowest_ = UINT64_MAX;
    std::int64_t anchor_ns_ = 0;
    std::int64_t last_ns_ = 0;
    Pair first_;
    unsigned cpu_ = UINT32_MAX;
#endif
    bool counts_;
};

using Clock = ClockOf<MachineClocks>;

}  // namespace interpose
