// The CPU time of the calling thread, to compare two ways of doing something.
#pragma once

#include <chrono>
#include <cstdint>

namespace util {

struct ThreadUsage {
    /// In the program, and in the kernel on its behalf (CLOCK_THREAD_CPUTIME_ID). An interrupt is
    /// charged to whoever it interrupts.
    std::chrono::nanoseconds cpu{};
    /// How often it has given the processor up to wait (getrusage(2), ru_nvcsw).
    std::uint64_t sleeps = 0;

    static ThreadUsage now();

    /// What was used in between.
    ThreadUsage operator-(const ThreadUsage& before) const {
        return {cpu - before.cpu, sleeps - before.sleeps};
    }
    ThreadUsage& operator+=(const ThreadUsage& more) {
        cpu += more.cpu;
        sleeps += more.sleeps;
        return *this;
    }
};

}  // namespace util
