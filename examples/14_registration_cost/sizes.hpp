// Lesson 14, part 1: the sizes and kinds of pages to measure.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "pages.hpp"
#include "runlog/log.hpp"
#include "util/error.hpp"
#include "util/limits.hpp"

namespace lesson14 {

inline constexpr std::size_t smallest = 4096;

struct Plan {
    std::size_t length;
    Backing backing;
    bool is_touched;
};

inline std::string bytes_text(std::uint64_t bytes) {
    constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    for (; bytes != 0 && bytes % 1024 == 0 && unit + 1 < units.size(); ++unit)
        bytes /= 1024;
    return fmt::format("{} {}", bytes, units[unit]);
}

/// Returns `asked`, or if it is 0 a size that fits this host. Throws util::Error if memory is
/// short.
inline std::uint64_t largest_size(std::uint64_t asked, runlog::Log& log) {
    constexpr std::uint64_t most_of_all = std::uint64_t{1} << 30;
    const std::uint64_t available = util::available_memory();
    const auto lockable = util::locked_memory_limit();
    if (asked > available)
        throw util::Error(
            fmt::format("--most {}: only {} MiB of memory are available. Choose a smaller one.",
                        bytes_text(asked), available >> 20));
    if (asked != 0)
        return asked;
    const std::uint64_t room =
        std::min({available / 4, lockable.value_or(most_of_all), most_of_all});
    std::uint64_t most = smallest;
    while (most * 4 <= room)
        most *= 4;
    if (most < most_of_all && lockable && *lockable < available / 4)
        log.note(fmt::format("the sizes end at {}: the locked-memory limit is {} (ulimit -l)",
                             bytes_text(most), bytes_text(*lockable)));
    else if (most < most_of_all)
        log.note(
            fmt::format("the sizes end at {}: by default a quarter of the {} MiB that are "
                        "available (--most SIZE sets another limit)",
                        bytes_text(most), available >> 20));
    return most;
}

/// Returns nullopt, and logs why, if the kernel has no huge pages.
inline std::optional<Backing> huge_backing(std::uint64_t most, runlog::Log& log) {
    try {
        const Pages all(std::max<std::uint64_t>(most / huge_page, 1) * huge_page, Backing::hugetlb);
        return Backing::hugetlb;
    } catch (const std::system_error&) {  // the pool is too small; by default it is empty
    }
    if (has_transparent_huge_pages())
        return Backing::transparent;
    log.note(
        "no huge pages here: /proc/sys/vm/nr_hugepages is too small, and transparent ones are "
        "off (/sys/kernel/mm/transparent_hugepage/enabled)");
    return std::nullopt;
}

/// Sizes grow by a factor of four; the last one is `most`.
inline std::vector<Plan> plans_up_to(std::uint64_t most, std::optional<Backing> huge) {
    std::vector<Plan> plans;
    for (std::uint64_t size = smallest;; size = std::min(size * 4, most)) {
        plans.insert(plans.end(), {{size, Backing::small, false}, {size, Backing::small, true}});
        if (huge && size % huge_page == 0)
            plans.insert(plans.end(), {{size, *huge, false}, {size, *huge, true}});
        if (size >= most)
            return plans;
    }
}

}  // namespace lesson14
