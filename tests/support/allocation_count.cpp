#include "support/allocation_count.hpp"

#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ADDRESS_SANITIZER 1
#endif
#endif

namespace {

thread_local std::uint64_t allocations = 0;

}  // namespace

#ifdef UNDER_ADDRESS_SANITIZER

// Replacing operator new would hide mismatches of new and delete from the sanitizer: use its hooks.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*,
                                                                           std::size_t),
                                                         void (*on_free)(const volatile void*));

namespace {

const bool hooks_are_installed = [] {
    return __sanitizer_install_malloc_and_free_hooks(
               [](const volatile void*, std::size_t) { ++allocations; },
               [](const volatile void*) {}) != 0;
}();

}  // namespace

#else

namespace {

void* allocated(void* memory) {
    if (memory == nullptr)
        throw std::bad_alloc();
    ++allocations;
    return memory;
}

}  // namespace

// The library's other forms (arrays, nothrow, sized) call these (C++20, [new.delete]).
void* operator new(std::size_t size) {
    return allocated(std::malloc(size == 0 ? 1 : size));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    const auto unit = static_cast<std::size_t>(alignment);
    return allocated(std::aligned_alloc(unit, (size / unit + 1) * unit));
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}

#endif

namespace support {

AllocationCount::AllocationCount() : before_(allocations) {
#ifdef UNDER_ADDRESS_SANITIZER
    if (!hooks_are_installed)
        std::abort();
#endif
}

std::uint64_t AllocationCount::count() const {
    return allocations - before_;
}

}  // namespace support
