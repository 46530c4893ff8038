// CPU time of the calling thread, to compare two ways of doing something.
#pragma once

#include <chrono>
#include <cstdint>

namespace util {

struct ThreadUsage {
    /// In user space, and in the kernel on its behalf (CLOCK_THREAD_CPUTIME_ID). Includes
    /// interrupts that hit this thread.
    std::chrono::nanoseconds cpu{};
    /// Number of voluntary context switches (getrusage(2), ru_nvcsw).
    std::uint64_t sleeps = 0;

    static ThreadUsage now();

    /// Returns the usage since `before`.
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
