// What registering a piece of memory takes, over and over.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "pages.hpp"
#include "runlog/event.hpp"
#include "util/stop_signal.hpp"
#include "verbs/handles.hpp"

namespace step13 {

/// Nanoseconds that `work` takes.
template <typename Work>
std::uint64_t time_of(const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
}

/// Samples in nanoseconds: the median, and how far they lie apart.
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
    std::size_t length;
    Backing backing;
    bool is_touched;
    std::size_t repeats;
    Spread reg, dereg;

    std::size_t page_size() const { return backing == Backing::small ? small_page() : huge_page; }
    std::uint64_t pages() const { return length / page_size(); }

    runlog::Fields fields() const {
        return {{"len", length},
                {"memory", is_touched ? "touched" : "untouched"},
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

struct Plan {
    std::size_t length;
    Backing backing;
    bool is_touched;
};

/// `repeats` times, but a size that takes long no longer than a second and no fewer than three
/// times. Untouched memory is new each time: the first registration has touched it. nullopt when a
/// stop was requested. Throws util::Error where the device or the limit refuses.
inline std::optional<Cost> measure(ibv_pd* pd, const Plan& plan, std::uint64_t repeats,
                                   util::StopSignal& stop) {
    constexpr std::chrono::seconds long_enough{1};
    const auto begin = std::chrono::steady_clock::now();
    std::optional<Pages> pages;
    std::vector<std::uint64_t> reg, dereg;
    while (reg.size() < repeats) {
        if (stop.requested())
            return std::nullopt;
        if (reg.size() >= 3 && std::chrono::steady_clock::now() - begin > long_enough)
            break;
        if (!pages || !plan.is_touched) {
            pages.reset();
            pages.emplace(plan.length, plan.backing);
            if (plan.is_touched)
                pages->touch();
        }
        verbs::Mr mr;
        reg.push_back(time_of([&] {
            mr = verbs::register_memory(pd, pages->bytes(),
                                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
        }));
        dereg.push_back(time_of([&] { mr.reset(); }));
    }
    const std::size_t done = reg.size();
    return Cost{plan.length, plan.backing,           plan.is_touched,
                done,        Spread(std::move(reg)), Spread(std::move(dereg))};
}

}  // namespace step13
