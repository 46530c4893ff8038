#include "util/limits.hpp"

#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include "util/check.hpp"
#include "util/error.hpp"

namespace util {

void need_open_files(std::uint64_t count, std::string_view what) {
    rlimit limit{};
    check_errno(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit(RLIMIT_NOFILE)");
    limit.rlim_cur = limit.rlim_max;
    check_errno(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit(RLIMIT_NOFILE)");
    if (limit.rlim_cur < count)
        throw Error(fmt::format(
            "{} takes {} open files, and {} are allowed: raise the limit (ulimit -Hn), or take "
            "fewer.",
            what, count, limit.rlim_cur));
}

std::uint64_t resident_memory() {
    std::ifstream statm("/proc/self/statm");
    std::uint64_t whole = 0;
    std::uint64_t resident = 0;
    if (!(statm >> whole >> resident))
        throw Error("cannot read /proc/self/statm.");
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace util
