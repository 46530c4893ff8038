// Lesson 14: memory with a given kind of pages: touched or untouched, small or huge.
// Source: mmap(2), madvise(2), proc(5).
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "util/check.hpp"

namespace lesson14 {

inline constexpr std::size_t huge_page = std::size_t{2} << 20;

/// The size of an ordinary page: 4096 bytes on x86-64.
inline std::size_t small_page() {
    static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

enum class Backing {
    small,        // even if the kernel prefers huge pages
    transparent,  // huge if the kernel has them: MADV_HUGEPAGE
    hugetlb,      // from the pool of /proc/sys/vm/nr_hugepages
};

class Pages {
  public:
    /// Throws std::system_error.
    Pages(std::size_t length, Backing backing) : length_(length) {
        // Extra space for alignment to a huge page.
        mapped_ = backing == Backing::transparent ? length + huge_page : length;
        const int pool = backing == Backing::hugetlb ? MAP_HUGETLB | (21 << MAP_HUGE_SHIFT) : 0;
        map_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | pool,
                    -1, 0);
        if (map_ == MAP_FAILED)
            util::throw_system_error(errno, "mmap");
        first_ = static_cast<std::byte*>(map_);
        if (backing == Backing::transparent)
            first_ += huge_page - reinterpret_cast<std::uintptr_t>(map_) % huge_page;
        // madvise fails on a kernel without transparent huge pages: its pages are small.
        if (backing != Backing::hugetlb)
            madvise(first_, length_, backing == Backing::small ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
    }
    ~Pages() {
        if (map_ != nullptr)
            munmap(map_, mapped_);
    }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    Pages(Pages&&) = delete;
    Pages& operator=(Pages&&) = delete;

    std::span<std::byte> bytes() const { return {first_, length_}; }

    /// Allocates every page.
    void touch() const {
        for (std::size_t at = 0; at < length_; at += small_page())
            first_[at] = std::byte{1};
    }

    /// Replaces the pages at this address, as munmap does if a later mmap gets the same address.
    void remap() const {
        if (mmap(first_, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                 -1, 0) == MAP_FAILED)
            util::throw_system_error(errno, "mmap");
    }

    /// Unmaps the pages now. bytes() keeps the address.
    void unmap() {
        if (munmap(map_, mapped_) != 0)
            util::throw_system_error(errno, "munmap");
        map_ = nullptr;
    }

  private:
    std::size_t length_;
    std::size_t mapped_;
    void* map_;
    std::byte* first_;
};

/// Returns the value of a line "NAME: 123 kB" of /proc/self/FILE in bytes; 0 if there is none.
inline std::uint64_t bytes_in(const std::string& file, std::string_view name) {
    std::ifstream lines("/proc/self/" + file);
    for (std::string word; lines >> word;) {
        std::uint64_t kib = 0;
        if (word == name && lines >> kib)
            return kib * 1024;
        lines.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    return 0;
}

/// Returns the number of bytes of this process in transparent huge pages.
inline std::uint64_t bytes_in_huge_pages() {
    return bytes_in("smaps_rollup", "AnonHugePages:");
}

/// Returns the number of bytes that devices have pinned for this process. Each registration counts.
inline std::uint64_t pinned_memory() {
    return bytes_in("status", "VmPin:");
}

/// Returns true if the kernel provides transparent huge pages on request.
inline bool has_transparent_huge_pages() {
    const Pages pages(huge_page, Backing::transparent);
    const auto before = bytes_in_huge_pages();
    pages.touch();
    return bytes_in_huge_pages() >= before + huge_page;
}

}  // namespace lesson14
