// Lesson 14, part 1: what does a registration cost? The sizes and kinds of pages to measure, the
// measurement, and its results as a table for people and as CSV for programs.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "examples/common/tracer.hpp"
#include "pages.hpp"
#include "pair.hpp"
#include "runlog/event.hpp"
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

/// Returns the duration of `work` in nanoseconds.
template <typename Work>
std::uint64_t time_of(const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
}

/// Minimum, median and maximum of samples in nanoseconds.
struct Spread {
    std::uint64_t min = 0, p50 = 0, max = 0;

    explicit Spread(std::vector<std::uint64_t> samples) {
        std::ranges::sort(samples);
        min = samples.front();
        p50 = samples[samples.size() / 2];
        max = samples.back();
    }
};

struct Cost {
    Plan plan;
    std::size_t repeats;
    Spread reg, dereg;

    std::size_t page_size() const {
        return plan.backing == Backing::small ? small_page() : huge_page;
    }
    std::uint64_t pages() const { return plan.length / page_size(); }

    runlog::Fields fields() const {
        return {{"len", plan.length},
                {"memory", plan.is_touched ? "touched" : "untouched"},
                {"page_size", page_size()},
                {"pages", pages()},
                {"repeats", repeats},
                {"reg_min_ns", reg.min},
                {"reg_p50_ns", reg.p50},
                {"reg_max_ns", reg.max},
                {"reg_page_ns", reg.p50 / pages()},
                {"dereg_min_ns", dereg.min},
                {"dereg_p50_ns", dereg.p50},
                {"dereg_max_ns", dereg.max}};
    }
};

/// Measures `repeats` times, but stops after a second if it has at least three samples. Throws
/// std::system_error if the device or the limit refuses, util::Error on a stop.
inline Cost measure(const Host& host, const Plan& plan, std::uint64_t repeats) {
    constexpr std::chrono::seconds long_enough{1};
    const auto begin = std::chrono::steady_clock::now();
    const std::string call = fmt::format("ibv_reg_mr({} bytes)", plan.length);
    const common::HeldTrace held;  // writing a log line takes longer than a call
    std::optional<Pages> pages;
    std::vector<std::uint64_t> reg, dereg;
    while (reg.size() < repeats &&
           (reg.size() < 3 || std::chrono::steady_clock::now() - begin < long_enough)) {
        host.check_stop();
        // 1. Memory. Untouched memory is allocated anew each time, because registration touches it.
        if (!pages || !plan.is_touched) {
            pages.reset();
            pages.emplace(plan.length, plan.backing);
            if (plan.is_touched)
                pages->touch();
        }
        const std::span<std::byte> memory = pages->bytes();

        // 2. The kernel pins each page and passes the list to the device.
        ibv_mr* mr = nullptr;
        reg.push_back(time_of([&] {
            mr = util::check_ptr(ibv_reg_mr(host.pd, memory.data(), memory.size(),
                                            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
                                 call);
        }));

        // 3. The device drops the list, and the kernel unpins the pages.
        dereg.push_back(time_of([&] { CHECK_RC(ibv_dereg_mr(mr)); }));
    }
    const std::size_t done = reg.size();
    return {plan, done, Spread(std::move(reg)), Spread(std::move(dereg))};
}

inline std::string microseconds(std::uint64_t ns) {
    return fmt::format("{:.1f}", static_cast<double>(ns) / 1000);
}

/// The medians in microseconds, one line per size.
inline void write_table(const std::vector<Cost>& costs, runlog::Log& log) {
    // By size: small pages untouched and touched, huge ones untouched and touched.
    std::map<std::size_t, std::array<const Cost*, 4>> sizes;
    for (const Cost& cost : costs)
        sizes[cost.plan.length]
             [(cost.plan.backing == Backing::small ? 0u : 2u) + cost.plan.is_touched] = &cost;
    constexpr auto line = "{:>8} {:>11} {:>9} {:>8} {:>11} {:>9} {:>8}";
    log.note(fmt::format("{:>8} {:>11} {:>30}", "in us", "4 KiB pages", "2 MiB pages"));
    log.note(
        fmt::format(line, "", "untouched", "touched", "a page", "untouched", "touched", "dereg."));
    const auto reg = [](const Cost* cost) {
        return cost == nullptr ? "-" : microseconds(cost->reg.p50);
    };
    for (const auto& [length, columns] : sizes) {
        const Cost* there = columns[1];
        log.note(fmt::format(line, bytes_text(length), reg(columns[0]), reg(there),
                             there ? microseconds(there->reg.p50 / there->pages()) : "-",
                             reg(columns[2]), reg(columns[3]),
                             there ? microseconds(there->dereg.p50) : "-"));
    }
}

inline void write_csv(const std::string& path, const std::vector<Cost>& costs) {
    std::ofstream file(path);
    bool is_first = true;
    for (const Cost& cost : costs) {
        std::string names, values;
        for (const runlog::Field& field : cost.fields()) {
            const auto* number = std::get_if<std::uint64_t>(&field.value);
            const char* comma = names.empty() ? "" : ",";
            names += comma + field.key;
            values += comma + (number != nullptr ? fmt::format("{}", *number)
                                                 : std::get<std::string>(field.value));
        }
        if (std::exchange(is_first, false))
            file << names << '\n';
        file << values << '\n';
    }
    if (!file.flush())
        throw util::Error(fmt::format("cannot write '{}': choose another --csv.", path));
}

}  // namespace lesson14
