// What the path did to packets.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"
#include "trace/explain/timers.hpp"

namespace explain {
namespace {

// Returns "every 100th packet" if the distances are similar, otherwise nothing.
std::string pattern_of(const Course::Spacing& spacing) {
    if (spacing.episodes < 4)
        return {};
    if (spacing.least > 4 &&
        spacing.most - spacing.least <= std::max<std::uint64_t>(2, spacing.most / 10))
        return fmt::format(", about every {} packets", (spacing.least + spacing.most) / 2);
    return ", at irregular distances";
}

class Recovery {
  public:
    Recovery(const Case& one, Causes& causes)
        : case_(one), direction_(one.direction), course_(one.course), causes_(causes) {}

    void explain() {
        const bool is_damaged = explain_damage(case_, causes_);
        explain_both_ends(case_, causes_);
        if (direction_.is_datagram())
            return;
        if (!direction_.is_reliable()) {
            unreliable();
            return;
        }
        // A responder also asks for overtaken packets: their retransmission is no loss.
        const std::size_t overtaken_requests = course_.count(Why::Reordered);
        const std::size_t overtaken = overtaken_requests + overtaken_responses();
        const std::size_t missing = count_losses(Why::LostBefore);
        const bool is_disorder = overtaken_requests > 0 && missing <= overtaken_requests;
        if (!is_disorder)
            is_late_ = explain_late(case_, late_reads(),
                                    missing + count_losses(Why::LostBehind) +
                                        count_losses(Why::DataLost) + known_losses(),
                                    causes_) ||
                       are_responses_late();
        if (!is_damaged && !has(Code::PeerNotReady) && !has(Code::WrongPsn) &&
            !has(Code::LargePacketsLost)) {
            loss(is_disorder ? 0 : count_losses(Why::LostBefore) + count_losses(Why::LostBehind),
                 count_losses(Why::DataLost));
            if (!is_disorder && case_.whole.passages == nullptr)
                explain_lost_first_copies(case_, causes_);
        }
        if (overtaken > 0)
            reordering(overtaken);
        doubled();
    }

  private:
    Cause& add(Code code, Certainty certainty, std::string text, std::int64_t cost) {
        Cause cause = case_.cause(code, certainty, std::move(text));
        cause.cost_ns = cost;
        causes_.push_back(std::move(cause));
        return causes_.back();
    }

    bool has(Code code) const { return case_.is_explained_by(code, causes_); }

    void unreliable() {
        if (course_.gaps == 0)
            return;
        // Nothing is retransmitted: a packet that arrives after its gap was overtaken, unless the capture
        // has the packets in another order than they came.
        if (course_.filled >= course_.gaps) {
            if (course_.filled > course_.misplaced)
                reordering(course_.filled - course_.misplaced);
            return;
        }
        // Not certain: the capture may lack them.
        Cause& cause = add(Code::Loss, Certainty::Likely,
                           packets(course_.gaps - course_.filled, "is", "are") +
                               " missing: the transport does not retransmit packets.",
                           0);
        // Somebody misses one of a hundred packets or messages. Each missing packet breaks a message.
        constexpr std::uint64_t share = 100;
        cause.is_fatal = (course_.gaps - course_.filled) * share >= course_.requests ||
                         course_.broken * share >= course_.ends + course_.broken;
        add_jumps(cause);
    }

    // Of a possible loss: returns whether one end is shown to have sent a packet, and the other one to
    // miss it: by a missing PSN, or because the receiver asks for the packet again. A late requester
    // asks again for responses that its host has. See explain_both_ends() for what is known.
    bool shows_loss(const Episode& episode) const {
        if (episode.is_known)
            return false;
        switch (episode.why) {
            case Why::LostBefore:
                return episode.first->psn != episode.again->psn;
            case Why::LostBehind:
                return episode.answer->frame < episode.again->frame;
            default:  // DataLost
                return !came_late(episode) &&
                       ((episode.first->psn != episode.again->psn &&
                         !(episode.had_data && (is_late_ || case_.is_captured_at_requester()))) ||
                        (episode.was_passed_over && !episode.had_data));
        }
    }

    // Of a possible loss: returns whether the requester waited for a response until its timer expired,
    // and the response to the first copy is missing. A timer that started before the request was sent,
    // as in Soft-RoCE, may expire early. If the timeout is too short, it shows nothing.
    bool suggests_loss(const Episode& episode) const {
        constexpr std::int64_t longest_pause_ns = 250'000'000;  // of a host that sends a message
        const auto timeout = ack_timeout_of(direction_);
        const std::int64_t least = (timeout.value_or(0) + 1) / 2;
        if (is_late_ || episode.is_known)
            return false;
        switch (episode.why) {
            case Why::LostBefore:  // a request behind it may be the one that was lost
                return episode.idle_ns >= (timeout ? least : longest_pause_ns);
            case Why::LostBehind:  // before its first response, a responder may not have been ready
                return episode.cost_ns >= least && (direction_.responder != nullptr ||
                                                    episode.answer != direction_.responses.front());
            default:  // DataLost
                return episode.cost_ns >= least && !episode.had_data;
        }
    }

    // Where responses came late more often than not, those of which nothing is known were late, too.
    bool are_responses_late() const {
        const auto unknown = std::ranges::count_if(course_.episodes, [&](const Episode& episode) {
            return (episode.why == Why::LostBefore || episode.why == Why::LostBehind) &&
                   !episode.is_known && !shows_loss(episode);
        });
        return course_.count(Why::AnswerLate) > static_cast<std::size_t>(unknown);
    }

    // The requester asked again for data that arrived a moment later: they were overtaken, or its timer
    // expired in the middle of a response.
    bool came_late(const Episode& episode) const {
        const bool was_answered_before =
            episode.answer != nullptr && episode.answer->frame < episode.first->frame;
        return case_.is_captured_at_requester() && !episode.had_data && !was_answered_before &&
               episode.data_came > episode.data_asked;
    }

    std::size_t overtaken_responses() const {
        return static_cast<std::size_t>(std::ranges::count_if(
            course_.episodes,
            [&](const Episode& episode) { return came_late(episode) && episode.was_passed_over; }));
    }

    std::size_t count_losses(Why why) const {
        const auto known = std::ranges::count_if(course_.episodes, [&](const Episode& episode) {
            return episode.why == why && (shows_loss(episode) || suggests_loss(episode));
        });
        return static_cast<std::size_t>(known) +
               (is_late_ || case_.whole.passages != nullptr
                    ? 0
                    : course_.forgotten[static_cast<std::size_t>(why)].count);
    }

    std::size_t known_losses() const {
        return static_cast<std::size_t>(std::ranges::count_if(
            course_.episodes, [](const Episode& episode) { return episode.lost != 0; }));
    }

    // READs and atomics that were requested again although the capture has their responses: these, or
    // the requester, may have been late.
    std::size_t late_reads() const {
        const std::int64_t least = (ack_timeout_of(direction_).value_or(0) + 1) / 2;
        return static_cast<std::size_t>(
            std::ranges::count_if(course_.episodes, [&](const Episode& episode) {
                return episode.why == Why::DataLost && episode.cost_ns >= least &&
                       !episode.is_known && !shows_loss(episode) && episode.had_data;
            }));
    }

    // "packets were lost 5 times, 2 of them responses from the server".
    std::string losses(std::size_t requests, std::size_t responses) const {
        const std::string from = spoken(direction_.to);
        if (requests == 0)
            return fmt::format("responses from {} were lost {}", from, times(responses));
        return fmt::format("packets were lost {}", times(requests + responses)) +
               (responses == 0 ? ""
                               : fmt::format(", {} of them responses from {}", responses, from));
    }

    void loss(std::size_t requests, std::size_t responses) {
        if (requests + responses == 0)
            return;
        const std::int64_t cost = course_.cost_of(Why::LostBefore) +
                                  course_.cost_of(Why::LostBehind) + course_.cost_of(Why::DataLost);
        // The path delivered all packets that the capture at the responder has.
        const bool is_host = case_.is_captured_at_responder() &&
                             count_losses(Why::LostBehind) == requests + responses;
        const Episode* example = nullptr;
        for (const Why why : {Why::DataLost, Why::LostBehind, Why::LostBefore}) {
            const auto found = std::ranges::find_if(course_.episodes, [&](const Episode& episode) {
                return episode.why == why && (shows_loss(episode) || suggests_loss(episode));
            });
            example = found == course_.episodes.end() ? example : &*found;
        }
        if (is_host) {
            Cause cause = dropped_by_host(case_, example, cost);
            cause.is_fatal = case_.has_given_up() && !case_.is_end_explained(causes_);
            causes_.push_back(std::move(cause));
            return;
        }
        Cause& cause =
            add(Code::Loss, Certainty::Likely,
                fmt::format("{}{}, and {} retransmitted.", losses(requests, responses),
                            pattern_of(course_.spacing), packets(course_.repeats, "was", "were")),
                cost);
        cause.is_fatal = case_.has_given_up() && !case_.is_end_explained(causes_);
        if (example != nullptr)
            add_episode(case_, cause, *example);
    }

    void reordering(std::uint64_t count) {
        Cause& cause =
            add(Code::Reordering,
                case_.whole.passages != nullptr && direction_.is_reliable() ? Certainty::Certain
                                                                            : Certainty::Likely,
                fmt::format("packets arrived out of order {}.", times(count)),
                course_.cost_of(Why::Reordered));
        const auto episode = std::ranges::find_if(course_.episodes, [&](const Episode& one) {
            return one.why == Why::Reordered || came_late(one);
        });
        if (episode != course_.episodes.end())
            add_episode(case_, cause, *episode);
        else
            add_jumps(cause);
    }

    void add_jumps(Cause& cause) const {
        for (const auto& [before, behind] : course_.jumps) {
            cause.add(evidence(*before));
            cause.add(evidence(*behind));
        }
    }

    // Soft-RoCE's timer is not started again by each request, and may expire just after one was sent.
    // Then the copies have at least the distance of the timeout.
    bool may_be_a_running_timer() const {
        constexpr std::int64_t usual_ns = 67'108'864;  // timeout 14
        const std::int64_t timeout = ack_timeout_of(direction_).value_or(usual_ns);
        const Episode* last = nullptr;
        for (const Episode& one : course_.episodes) {
            if (one.why != Why::Doubled)
                continue;
            if (one.is_same_packet)
                return false;
            if (last != nullptr && one.again->t_ns - last->again->t_ns < timeout - timeout / 8)
                return false;
            last = &one;
        }
        return true;
    }

    void doubled() {
        const std::size_t count = course_.count(Why::Doubled);
        if (count == 0 || may_be_a_running_timer())
            return;
        const Episode* same = course_.first(Why::Doubled);
        Cause& cause = add(
            Code::NeedlessRetransmissions, Certainty::Likely,
            fmt::format("{} arrived a second time, {}: something on the path duplicates "
                        "packets, or the capture records them twice.",
                        counted(count, "request packet"),
                        same->is_same_packet ? "with the same IP identification as the first time"
                                             : fmt::format("so soon that no timer can have sent {}",
                                                           count == 1 ? "it" : "them")),
            0);
        add_episode(case_, cause, *same);
    }

    const Case& case_;
    const Direction& direction_;
    const Course& course_;
    Causes& causes_;
    bool is_late_ = false;
};

}  // namespace

Cause dropped_by_host(const Case& one, const Episode* example, std::int64_t cost_ns) {
    Cause cause = one.cause(
        Code::Loss, Certainty::Possible,
        fmt::format("{} retransmitted{}, although the first copy had arrived at the responder's "
                    "host: it dropped it, or it was late to process it.",
                    packets(one.course.repeats, "was", "were"), pattern_of(one.course.spacing)));
    cause.cost_ns = cost_ns;
    cause.try_this =
        "Look at the responder's host for packets that it drops (ethtool -S, nstat: "
        "UdpRcvbufErrors) and for a busy CPU.";
    if (example != nullptr)
        add_episode(one, cause, *example);
    return cause;
}

void explain_recovery(const Case& one, Causes& causes) {
    Recovery(one, causes).explain();
}

}  // namespace explain
