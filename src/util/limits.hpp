// The resource limits of a process, and its use of resources.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace util {

/// Raises the limit of open descriptors as far as an ordinary user may (setrlimit(2),
/// RLIMIT_NOFILE, to the hard limit). Throws Error where that is fewer than `count`; `what` takes
/// them.
void need_open_files(std::uint64_t count, std::string_view what);

/// The bytes of memory that this thread may lock; nullopt where no limit counts, as there is none
/// or CAP_IPC_LOCK stands above it. Source: setrlimit(2), RLIMIT_MEMLOCK; capabilities(7).
std::optional<std::uint64_t> locked_memory_limit();

/// While it lives, the calling thread may lock (and pin) no more than `bytes` of memory: the soft
/// limit is lowered, and CAP_IPC_LOCK, which stands above it, is not in effect. Both come back
/// afterwards. Throws std::system_error.
class LockedMemoryLimit {
  public:
    explicit LockedMemoryLimit(std::uint64_t bytes);
    ~LockedMemoryLimit();
    LockedMemoryLimit(const LockedMemoryLimit&) = delete;
    LockedMemoryLimit& operator=(const LockedMemoryLimit&) = delete;
    LockedMemoryLimit(LockedMemoryLimit&&) = delete;
    LockedMemoryLimit& operator=(LockedMemoryLimit&&) = delete;

    /// CAP_IPC_LOCK was in effect: without this object no limit would count.
    bool was_above_limits() const { return had_capability_; }

  private:
    std::uint64_t soft_limit_;
    bool had_capability_;
};

/// The process's memory that is in RAM, in bytes. Source: proc(5), statm.
std::uint64_t resident_memory();

/// The memory that programs can still have without the system swapping, in bytes. Source: proc(5),
/// meminfo, MemAvailable.
std::uint64_t available_memory();

}  // namespace util
