#include "util/limits.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "util/check.hpp"
#include "util/error.hpp"
#include "util/printable.hpp"

namespace util {
namespace {

// CAP_IPC_LOCK of this thread; if it is permitted, it can be set and cleared in the effective set.
class IpcLock {
  public:
    IpcLock() {
        check_errno(static_cast<int>(syscall(SYS_capget, &header_, sets_.data())), "capget");
    }
    bool is_in_effect() const { return (sets_[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & bit) != 0; }
    void put_into_effect(bool wanted) {
        std::uint32_t& effective = sets_[CAP_TO_INDEX(CAP_IPC_LOCK)].effective;
        effective = wanted ? effective | bit : effective & ~bit;
        check_errno(static_cast<int>(syscall(SYS_capset, &header_, sets_.data())), "capset");
    }

  private:
    static constexpr auto bit = static_cast<std::uint32_t>(CAP_TO_MASK(CAP_IPC_LOCK));
    __user_cap_header_struct header_{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets_{};
};

rlimit locked_memory() {
    rlimit limit{};
    check_errno(getrlimit(RLIMIT_MEMLOCK, &limit), "getrlimit(RLIMIT_MEMLOCK)");
    return limit;
}

void set_locked_memory(std::uint64_t soft) {
    rlimit limit = locked_memory();
    limit.rlim_cur = soft;
    check_errno(setrlimit(RLIMIT_MEMLOCK, &limit), "setrlimit(RLIMIT_MEMLOCK)");
}

}  // namespace

void need_open_files(std::uint64_t count, std::string_view what) {
    rlimit limit{};
    check_errno(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit(RLIMIT_NOFILE)");
    limit.rlim_cur = limit.rlim_max;
    check_errno(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit(RLIMIT_NOFILE)");
    if (limit.rlim_cur < count)
        throw Error(
            fmt::format("{} needs {} open files, but only {} are allowed: raise the limit (ulimit "
                        "-Hn), or use fewer.",
                        what, count, limit.rlim_cur));
}

std::optional<std::uint64_t> locked_memory_limit() {
    const rlimit limit = locked_memory();
    if (limit.rlim_cur == RLIM_INFINITY || IpcLock().is_in_effect())
        return std::nullopt;
    return limit.rlim_cur;
}

LockedMemoryLimit::LockedMemoryLimit(std::uint64_t bytes)
    : soft_limit_(locked_memory().rlim_cur), had_capability_(IpcLock().is_in_effect()) {
    set_locked_memory(bytes);
    if (had_capability_)
        IpcLock().put_into_effect(false);
}

LockedMemoryLimit::~LockedMemoryLimit() {
    try {
        if (had_capability_)
            IpcLock().put_into_effect(true);
        set_locked_memory(soft_limit_);
    } catch (const std::system_error& error) {
        print_error(fmt::format("{}\n", error.what()));
    }
}

std::uint64_t resident_memory() {
    std::ifstream statm("/proc/self/statm");
    std::uint64_t whole = 0;
    std::uint64_t resident = 0;
    if (!(statm >> whole >> resident))
        throw Error("cannot read /proc/self/statm.");
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t available_memory() {
    std::ifstream file("/proc/meminfo");
    std::string name;
    for (std::uint64_t kib = 0; file >> name >> kib; file.ignore(100, '\n'))
        if (name == "MemAvailable:")
            return kib * 1024;
    throw Error("cannot read /proc/meminfo.");
}

}  // namespace util
