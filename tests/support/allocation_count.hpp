// Counts allocations, for tests of code that must not allocate.
#pragma once

#include <cstdint>

namespace support {

/// Counts this thread's allocations since its construction: all forms of operator new and, under
/// AddressSanitizer, which has its own operator new, also malloc().
class AllocationCount {
  public:
    AllocationCount();

    std::uint64_t count() const;

  private:
    std::uint64_t before_;
};

}  // namespace support
