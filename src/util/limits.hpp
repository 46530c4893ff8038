// Resource limits and resource use of a process.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace util {

/// Raises the limit of open descriptors as far as an ordinary user may (setrlimit(2),
/// RLIMIT_NOFILE, to the hard limit). Throws Error if that is less than `count`; `what` names what
/// needs them.
void need_open_files(std::uint64_t count, std::string_view what);

/// Number of bytes of memory that this thread may lock; nullopt if no limit applies: there is none,
/// or CAP_IPC_LOCK overrides it. Source: setrlimit(2), RLIMIT_MEMLOCK; capabilities(7).
std::optional<std::uint64_t> locked_memory_limit();

/// While an object exists, the calling thread may lock (and pin) no more than `bytes` of memory: it
/// lowers the soft limit and clears CAP_IPC_LOCK, which overrides the limit. The destructor
/// restores both. Throws std::system_error.
class LockedMemoryLimit {
  public:
    explicit LockedMemoryLimit(std::uint64_t bytes);
    ~LockedMemoryLimit();
    LockedMemoryLimit(const LockedMemoryLimit&) = delete;
    LockedMemoryLimit& operator=(const LockedMemoryLimit&) = delete;
    LockedMemoryLimit(LockedMemoryLimit&&) = delete;
    LockedMemoryLimit& operator=(LockedMemoryLimit&&) = delete;

    /// CAP_IPC_LOCK was in effect: without this object no limit would apply.
    bool was_above_limits() const { return had_capability_; }

  private:
    std::uint64_t soft_limit_;
    bool had_capability_;
};

/// Resident memory of the process in bytes. Source: proc(5), statm.
std::uint64_t resident_memory();

/// Memory available to programs without swapping, in bytes. Source: proc(5), meminfo, MemAvailable.
std::uint64_t available_memory();

}  // namespace util
