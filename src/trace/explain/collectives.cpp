// Collectives (the events `collective` and `collective_end`): all ranks call the same function in each step and
// wait for each other, so one rank that is late, or one packet that is lost, costs all of them time.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"
#include "trace/explain/timers.hpp"

namespace explain {
namespace {

using Steps = std::map<std::uint64_t, std::vector<const Collective*>>;  // those that have ended

struct LateSum {
    std::size_t steps = 0;
    std::int64_t total_ns = 0, worst_ns = 0;
    const Collective* worst = nullptr;
    const Collective* waiting = nullptr;  // the rank that waited longest in that step
};

class Collectives {
  public:
    Collectives(const Whole& whole, Causes& causes) : whole_(whole), causes_(causes) {
        for (const Collective& one : whole.logs.collectives())
            if (one.took_ns)
                steps_[one.step].push_back(&one);
        std::erase_if(steps_, [](const auto& step) { return step.second.size() < 2; });
    }

    void explain() {
        late_ranks();
        slow_steps();
        unfinished();
    }

  private:
    static const Collective& longest(const std::vector<const Collective*>& ranks) {
        return **std::ranges::max_element(ranks, {},
                                          [](const Collective* one) { return *one->took_ns; });
    }

    // The clocks of the ranks need not agree: all leave a collective at about the same time, and who
    // was in it for a short time came late. In the first step, ranks also wait for connections.
    void late_ranks() {
        constexpr std::int64_t least_ns = 100'000'000;
        std::map<std::string, LateSum> late;
        for (const auto& [step, ranks] : steps_) {
            if (step == steps_.begin()->first)
                continue;
            const Collective& waiting = longest(ranks);
            for (const Collective* one : ranks) {
                const std::int64_t late_ns = *waiting.took_ns - *one->took_ns;
                if (late_ns < least_ns || *one->took_ns * 2 > *waiting.took_ns)
                    continue;
                is_late_.insert(step);
                LateSum& sum = late[one->began.role];
                ++sum.steps;
                sum.total_ns += late_ns;
                if (late_ns > sum.worst_ns) {
                    sum.worst_ns = late_ns;
                    sum.worst = one;
                    sum.waiting = &waiting;
                }
            }
        }
        for (const auto& [role, sum] : late)
            add(role, sum);
    }

    void add(const std::string& role, const LateSum& sum) {
        Cause cause{
            .code = Code::LateRank,
            .certainty = Certainty::Likely,
            .text = fmt::format("{} came late to {} of {} collectives, to that of step {} by "
                                "about {}: {} waited for it.",
                                spoken(role), sum.steps, steps_.size(), sum.worst->step,
                                exact(sum.worst_ns), spoken(sum.waiting->began.role)),
            .evidence = {},
            .where = role,
            .cost_ns = sum.total_ns};
        for (const Collective* one : {sum.worst, sum.waiting}) {
            Evidence began = evidence(one->began);
            began.text += fmt::format("  (took {})", exact(*one->took_ns));
            cause.add(std::move(began));
        }
        causes_.push_back(std::move(cause));
    }

    // What cost time in a step that took much longer than most.
    void slow_steps() {
        constexpr std::size_t least = 3;
        constexpr std::int64_t least_ns = 50'000'000, clocks_ns = 100'000'000;
        if (steps_.size() < least)
            return;
        std::vector<std::int64_t> times;
        for (const auto& [step, ranks] : steps_)
            times.push_back(*longest(ranks).took_ns);
        auto sorted = times;
        std::ranges::sort(sorted);
        const std::int64_t usual = sorted[sorted.size() / 2];
        for (const auto& [step, ranks] : steps_) {
            const Collective& slow = longest(ranks);
            if (*slow.took_ns < 2 * usual || *slow.took_ns < usual + least_ns ||
                is_late_.contains(step))
                continue;
            const std::int64_t from = slow.began.t_ns - clocks_ns;
            const std::int64_t to = slow.began.t_ns + *slow.took_ns + clocks_ns;
            const auto belongs = [&](const Evidence& one) {
                return one.frame != 0 && one.t_ns >= from && one.t_ns <= to;
            };
            for (Cause& cause : causes_)
                if (cause.cost_ns > 0 && std::ranges::any_of(cause.evidence, belongs)) {
                    cause.text += fmt::format(" The collective of step {} took {}, most take {}.",
                                              step, exact(*slow.took_ns), exact(usual));
                    cause.add(evidence(slow.began));
                }
        }
    }

    // Where a failed connection left its rank.
    void unfinished() {
        for (const Collective& one : whole_.logs.collectives())
            if (!one.took_ns)
                for (Cause& cause : causes_)
                    if (cause.is_fatal) {
                        cause.text += fmt::format(" {} did not finish the collective of step {}.",
                                                  spoken(one.began.role), one.step);
                        cause.add(evidence(one.began));
                    }
    }

    const Whole& whole_;
    Causes& causes_;
    Steps steps_;
    std::set<std::uint64_t> is_late_;  // steps with a late rank
};

}  // namespace

void explain_collectives(const Whole& whole, Causes& causes) {
    if (!whole.logs.collectives().empty())
        Collectives(whole, causes).explain();
}

}  // namespace explain
