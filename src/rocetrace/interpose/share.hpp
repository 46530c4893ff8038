// The memory that this process shares with rocetrace.
#pragma once

#include <cstdint>
#include <sys/un.h>

#include "rocetrace/tracelog/ring.hpp"

namespace interpose {

/// The size of a ring with its header, and how many there are. A copy: the program may overwrite
/// the memory.
struct Layout {
    std::uint64_t ring_bytes = 0;
    std::uint32_t rings = 0;
};

struct Shared {
    tracelog::RegionHeader* region = nullptr;
    Layout layout;
};

/// Creates it with rings of `capacity` bytes, or smaller and fewer ones if a limit of the process
/// demands it, and passes it to rocetrace's socket. If that fails, it prints one sentence, and the
/// region is null.
Shared share_region(const sockaddr_un& address, std::uint64_t capacity);

}  // namespace interpose
