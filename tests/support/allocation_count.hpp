// How many allocations a piece of code makes, for tests of what must make none.
#pragma once

#include <cstdint>

namespace support {

/// Counts this thread's allocations from its construction on: operator new in its forms, and under
/// AddressSanitizer, which has its own operator new, malloc() too.
class AllocationCount {
  public:
    AllocationCount();

    std::uint64_t count() const;

  private:
    std::uint64_t before_;
};

}  // namespace support
