#include "util/thread_usage.hpp"

#include <ctime>
#include <sys/resource.h>

#include "util/check.hpp"

namespace util {

ThreadUsage ThreadUsage::now() {
    timespec time{};
    check_errno(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time),
                "clock_gettime(CLOCK_THREAD_CPUTIME_ID)");
    rusage usage{};
    check_errno(getrusage(RUSAGE_THREAD, &usage), "getrusage(RUSAGE_THREAD)");
    return {std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec),
            static_cast<std::uint64_t>(usage.ru_nvcsw)};
}

}  // namespace util
