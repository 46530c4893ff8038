// What no cause is about: retransmissions, and requests without a response.
#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"
#include "trace/explain/timers.hpp"

namespace explain {
namespace {

// Without it, nothing was sent again, or nobody waited for it.
bool is_retransmission(Why why) {
    return why != Why::Doubled && why != Why::Reordered;
}

Retransmissions by_running_timers(const Case& one, const Seen& starter) {
    Retransmissions all{.where = one.direction.where()};
    for (const Episode& episode : one.course.episodes)
        all.packets += episode.packets;
    Cause shown;
    shown.add(evidence(starter));
    add_episode(one, shown, one.course.episodes.front());
    all.evidence = std::move(shown.evidence);
    all.is_by_running_timers = true;
    return all;
}

Retransmissions retransmissions_of(const Case& one) {
    if (const Seen* starter = running_timer_of(one))
        return by_running_timers(one, *starter);
    Retransmissions all{.where = one.direction.where()};
    const Episode* longest = nullptr;
    for (const Episode& episode : one.course.episodes)
        if (is_retransmission(episode.why)) {
            all.packets += episode.packets;
            all.cost_ns += episode.cost_ns;
            if (longest == nullptr || episode.cost_ns > longest->cost_ns)
                longest = &episode;
        }
    for (std::size_t why = 0; why < one.course.forgotten.size(); ++why)
        if (is_retransmission(static_cast<Why>(why))) {
            all.packets += one.course.forgotten[why].count;
            all.cost_ns += one.course.forgotten[why].cost_ns;
        }
    if (longest != nullptr) {
        Cause shown;
        add_episode(one, shown, *longest);
        all.evidence = std::move(shown.evidence);
    }
    return all;
}

// The streams of the directions that a fatal cause is about.
std::unordered_set<const KeptStream*> failed_streams(const Directions& directions,
                                                     const Causes& causes) {
    std::unordered_set<std::string_view> failed;
    for (const Cause& cause : causes)
        if (cause.is_fatal)
            failed.insert(cause.where);
    std::unordered_set<const KeptStream*> streams;
    for (const Direction& direction : directions)
        if (direction.stream != nullptr && failed.contains(direction.where()))
            streams.insert(direction.stream);
    return streams;
}

}  // namespace

std::optional<Evidence> unanswered_request(const Course& course) {
    constexpr std::size_t least_copies = 3;
    const std::size_t copies = course.silent_copies.size();
    if (copies < least_copies)
        return std::nullopt;
    Evidence last = evidence(*course.silent_copies.back());
    last.text += fmt::format("  (copy {}, no response)", copies);
    return last;
}

std::vector<Unanswered> unanswered_without_cause(const Whole& whole,
                                                 const std::vector<Course>& courses,
                                                 const Causes& causes) {
    // What ends one queue pair of a connection ends both.
    const auto failed = failed_streams(whole.directions, causes);
    std::vector<Unanswered> all;
    for (std::size_t i = 0; i < courses.size(); ++i) {
        const Direction& direction = whole.directions[i];
        auto last = unanswered_request(courses[i]);
        if (last && !failed.contains(direction.stream) && !failed.contains(direction.back))
            all.push_back({direction.where(), *std::move(last)});
    }
    return all;
}

std::vector<Retransmissions> retransmissions_without_cause(const Whole& whole,
                                                           const std::vector<Course>& courses,
                                                           const Causes& causes) {
    std::unordered_set<std::string_view> explained;
    for (const Cause& cause : causes)
        explained.insert(cause.where);
    std::vector<Retransmissions> all;
    for (std::size_t i = 0; i < courses.size(); ++i) {
        const Case one{whole.directions[i], courses[i], whole};
        if (!one.direction.is_reliable() || courses[i].repeats == 0 ||
            explained.contains(one.direction.where()))
            continue;
        if (Retransmissions found = retransmissions_of(one); found.packets != 0)
            all.push_back(std::move(found));
    }
    std::ranges::stable_sort(all, std::ranges::greater(), &Retransmissions::cost_ns);
    return all;
}

}  // namespace explain
