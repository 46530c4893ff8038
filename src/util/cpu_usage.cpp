#include "util/cpu_usage.hpp"

#include <cstdint>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include "util/check.hpp"
#include "util/error.hpp"

namespace util {
namespace {

CpuUsage::Time time_of(const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + CpuUsage::Time(time.tv_usec);
}

}  // namespace

CpuUsage CpuUsage::now() {
    rusage usage{};
    check_errno(getrusage(RUSAGE_SELF, &usage), "getrusage(RUSAGE_SELF)");
    std::ifstream file("/proc/stat");
    std::string name;
    std::int64_t user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0;
    if (!(file >> name >> user >> nice >> system >> idle >> iowait >> irq >> softirq) ||
        name != "cpu")
        throw Error("cannot read /proc/stat.");
    const Time tick{1'000'000 / sysconf(_SC_CLK_TCK)};
    return {.user = time_of(usage.ru_utime),
            .system = time_of(usage.ru_stime),
            .machine_user = (user + nice) * tick,
            .machine_kernel = system * tick,
            .machine_interrupts = (irq + softirq) * tick};
}

}  // namespace util
