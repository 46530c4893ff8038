// Lesson 14, part 1: the results as a table for people and as CSV for programs.
#pragma once

#include <array>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cost.hpp"
#include "runlog/log.hpp"
#include "util/error.hpp"

namespace lesson14 {

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
