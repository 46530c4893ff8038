// What a process may use, and what it uses.
#pragma once

#include <cstdint>

namespace util {

/// Raises the limit of open descriptors as far as an ordinary user may (RLIMIT_NOFILE, to the hard
/// limit); the limit that holds afterwards. Source: setrlimit(2).
std::uint64_t raise_open_files();

/// The process's memory that is in RAM, in bytes. Source: proc(5), statm.
std::uint64_t resident_memory();

}  // namespace util
