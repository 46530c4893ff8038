// Lesson 14, part 1: how long ibv_reg_mr and ibv_dereg_mr take for one size.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "examples/common/tracer.hpp"
#include "pair.hpp"
#include "runlog/event.hpp"
#include "sizes.hpp"

namespace lesson14 {

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

}  // namespace lesson14
