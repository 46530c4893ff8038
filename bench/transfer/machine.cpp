#include <fstream>
#include <string>
#include <unistd.h>

#include "bench/transfer/measure.hpp"
#include "util/error.hpp"

namespace bench {

// "cpu  user nice system idle iowait irq softirq steal ...", in ticks (proc(5)).
Nanoseconds machine_busy() {
    std::ifstream file("/proc/stat");
    std::string cpu;
    std::uint64_t user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0;
    if (!(file >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq) ||
        cpu != "cpu")
        throw util::Error("/proc/stat does not begin with what all processors did.");
    const std::uint64_t ticks = user + nice + system + irq + softirq;
    return Nanoseconds(std::chrono::seconds(1)) * ticks / sysconf(_SC_CLK_TCK);
}

}  // namespace bench
