// What a process may use, and what it uses.
#pragma once

#include <cstdint>
#include <string_view>

namespace util {

/// Raises the limit of open descriptors as far as an ordinary user may (setrlimit(2),
/// RLIMIT_NOFILE, to the hard limit). Throws Error where that is fewer than `count`; `what` takes
/// them.
void need_open_files(std::uint64_t count, std::string_view what);

/// The process's memory that is in RAM, in bytes. Source: proc(5), statm.
std::uint64_t resident_memory();

}  // namespace util
