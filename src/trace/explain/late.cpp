// Requests that were retransmitted although nothing shows a loss: the responses, or the requester, were
// late.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"
#include "trace/explain/timers.hpp"

namespace explain {
namespace {

// The smallest attribute whose time is longer.
unsigned least_timeout(std::int64_t ns) {
    constexpr unsigned most = 31;
    unsigned n = 1;
    while (n < most && (std::int64_t{4096} << n) <= ns)
        ++n;
    return n;
}

// The longest time from the first copy of a request to its own response. The response to a request
// that was sent once is in Course; a late one came before the second copy was answered.
std::int64_t slowest_response(const Course& course) {
    std::int64_t slowest = std::max(course.slowest_ns, course.fastest_ns);
    for (const Episode& episode : course.episodes)
        if (episode.why == Why::AnswerLate && episode.answer != nullptr)
            slowest = std::max(slowest, episode.answered_ns() - episode.first->t_ns);
    return slowest;
}

// A timer expires after at most so many times its value (IBTA volume 1, 9.7.6.1.3).
constexpr std::int64_t most_timeouts = 4;

class Lateness {
  public:
    Lateness(const Case& one, std::size_t data, std::size_t lost, Causes& causes)
        : case_(one),
          direction_(one.direction),
          course_(one.course),
          causes_(causes),
          timeout_(ack_timeout_of(one.direction)),
          late_(timed_out(one, Why::AnswerLate)),
          answered_(timed_out(one, Why::AnswerLost)),
          data_(lost == 0 ? data : 0),
          lost_(lost) {}

    bool explain() {
        if (has(Code::AcksLost) || has(Code::LargePacketsLost))
            return false;
        if (was_answered_again()) {
            acks_lost(true);
            return false;
        }
        if (course_.count(Why::Reordered) == 0 && short_timeout())
            return true;
        if (has(Code::WrongQpn) || has(Code::TimeoutTooShort))
            return false;
        if (is_unheard())
            acks_lost(false);
        else if (const Episode* episode = with_missing_copies())
            copies_lost(*episode);
        else if (running_timer_of(case_) != nullptr)
            return false;
        else if (late_ >= 2 || answered_ + data_ >= (timeout_ || costs_time() ? 1U : 2U))
            needless();
        return false;
    }

  private:
    bool has(Code code) const { return case_.is_explained_by(code, causes_); }

    bool has_failed() const { return case_.error("RETRY_EXC_ERR") != nullptr; }

    // The shortest time from a post to its completion; nullopt: the log has too few, or the responder
    // was not ready.
    std::optional<std::int64_t> fastest_completion() const {
        constexpr std::size_t least = 3;
        std::size_t count = 0;
        std::int64_t fastest = INT64_MAX;
        if (direction_.requester != nullptr && course_.rnr_naks == 0)
            for (const Post& post : direction_.requester->posts)
                if (post.is_done && post.has_packets()) {
                    ++count;
                    fastest = std::min(fastest, post.done_ns - post.t_ns);
                }
        return count >= least ? std::optional(fastest) : std::nullopt;
    }

    bool short_timeout() {
        const std::size_t answered = data_ + (timeout_ || answered_ > 1 ? answered_ : 0);
        const bool is_each = answered >= 3 && !has_failed() &&
                             answered_requests() * 5 >= course_.asked * 4 && lost_ == 0;
        const bool is_slow = timeout_ && course_.answered >= 3 && course_.are_copies_answered &&
                             course_.fastest_ns > *timeout_;
        const auto completion = fastest_completion();
        const bool is_completed_late =
            timeout_ && completion > timeout_ && late_ + answered > 0 && lost_ == 0;
        const std::size_t slow = late_ - early_timers();
        const bool is_often = timeout_ && slow >= (has_failed() ? 1U : 2U) && late_ >= answered;
        if (!is_often && !is_each && !is_slow && !is_completed_late)
            return false;
        const bool is_certain = is_slow || (is_often && late_ >= 2 && lost_ == 0);
        Cause cause = case_.cause(
            Code::TimeoutTooShort, is_certain ? Certainty::Certain : Certainty::Likely,
            is_slow                          ? slow_text()
            : is_completed_late && !is_often ? completed_late_text(answered, *completion)
                                             : both_arrived_text(late_ + answered));
        cause.cost_ns = course_.cost_of(Why::AnswerLate);
        cause.is_fatal =
            case_.has_given_up() && !is_silent_for_long() && !case_.is_end_explained(causes_);
        if (const Episode* example = an_example())
            add_episode(case_, cause, *example);
        if (timeout_)
            cause.try_this =
                advice(std::max(slowest_response(course_), is_completed_late ? *completion : 0));
        causes_.push_back(std::move(cause));
        return true;
    }

    // Each of them may have been retransmitted several times.
    std::size_t answered_requests() const {
        std::set<std::uint32_t> psns;
        for (const Episode& episode : course_.episodes)
            if (episode.why == Why::AnswerLost || episode.why == Why::DataLost)
                psns.insert(episode.again->psn.value());
        return psns.size() + course_.forgotten[static_cast<std::size_t>(Why::AnswerLost)].count +
               course_.forgotten[static_cast<std::size_t>(Why::DataLost)].count;
    }

    // At the end the requester waited far longer than for any response before.
    bool is_silent_for_long() const {
        constexpr std::int64_t many = 4;
        const auto& copies = course_.silent_copies;
        return copies.size() > 1 &&
               copies.back()->t_ns - copies.front()->t_ns >
                   many * std::max(slowest_response(course_), timeout_.value_or(0));
    }

    // Retransmissions whose response came within the timeout. A timer that started before the request
    // was sent, as in Soft-RoCE, expires early.
    std::size_t early_timers() const {
        return static_cast<std::size_t>(
            std::ranges::count_if(course_.episodes, [&](const Episode& episode) {
                return timeout_ && episode.why == Why::AnswerLate &&
                       episode.cost_ns >= (*timeout_ + 1) / 2 &&
                       episode.answered_ns() - episode.first->t_ns < *timeout_ - *timeout_ / 8;
            }));
    }

    std::string slow_text() const {
        return fmt::format(
            "each request was retransmitted before its response arrived: the fastest "
            "response took {}, and {}.",
            exact(course_.fastest_ns), timeout_text(direction_));
    }

    std::string completed_late_text(std::size_t answered, std::int64_t completion) const {
        return fmt::format(
            "requests were retransmitted {} before their responses reached the "
            "requester: the fastest completion came {} after its request was posted, "
            "and {}.",
            times(late_ + answered), exact(completion), timeout_text(direction_));
    }

    static std::string both_arrived_text(std::size_t count) {
        return fmt::format(
            "{} retransmitted although both copies arrived: the ACK timeout is "
            "shorter than the time until the response arrives.",
            count == 1 ? "a request was" : counted(count, "request") + " were");
    }

    const Episode* an_example() const {
        for (const Why why : {Why::AnswerLate, Why::AnswerLost, Why::DataLost})
            if (const Episode* found = course_.first(why))
                return found;
        return course_.episodes.empty() ? nullptr : &course_.episodes.front();
    }

    std::string advice(std::int64_t slowest) const {
        const unsigned smallest = least_timeout(2 * slowest);
        const std::int64_t longer = std::int64_t{4096} << smallest;
        return longer > *timeout_
                   ? fmt::format(
                         "Set timeout to {} ({}): the first value that leaves twice the "
                         "time of the slowest response, {}.",
                         smallest, exact(longer), exact(slowest))
                   : fmt::format(
                         "Use a longer ACK timeout than {}, or capture at the requester to "
                         "see when the responses arrive.",
                         exact(*timeout_));
    }

    // The requester retransmitted the same requests until the end, although the capture has their
    // responses, and it was not late before.
    bool is_unheard() const {
        constexpr std::size_t least = 3;
        const bool is_end_known = direction_.requester != nullptr && !has_failed();
        const Episode* first = course_.first(Why::AnswerLost);
        if (first == nullptr || is_end_known || case_.shows_what_requester_got() || late_ != 0 ||
            answered_ < least || course_.count(Why::AnswerLost) != answered_ ||
            course_.newest->frame > first->again->frame)
            return false;
        return std::ranges::all_of(course_.episodes, [&](const Episode& episode) {
            return episode.why != Why::AnswerLost || episode.again->psn == first->again->psn;
        });
    }

    // Even the fastest request completed just after the timeout: with the response to the second copy. A
    // late response to the first copy would come at any time.
    bool was_answered_again() const {
        constexpr std::int64_t least_ns = 50'000'000, busy_ns = 5'000'000;
        const auto completion = fastest_completion();
        return timeout_ && *timeout_ >= least_ns && completion && answered_ > 0 && late_ == 0 &&
               !case_.shows_what_requester_got() && *completion > *timeout_ &&
               *completion <= *timeout_ + *timeout_ / 8 + busy_ns;
    }

    void acks_lost(bool are_others_heard) {
        Cause cause = case_.cause(
            Code::AcksLost, Certainty::Likely,
            fmt::format("requests were retransmitted {} although the capture has their responses, "
                        "and {}: the {}responses did not reach the requester.",
                        times(answered_),
                        are_others_heard
                            ? fmt::format("the fastest one completed {} after it was "
                                          "posted, just after the timeout of {}",
                                          exact(*fastest_completion()), exact(*timeout_))
                            : std::string("then nothing new was sent"),
                        are_others_heard ? "first " : ""));
        cause.cost_ns = course_.cost_of(Why::AnswerLost);
        add_episode(case_, cause, *course_.first(Why::AnswerLost));
        causes_.push_back(std::move(cause));
    }

    // A request that was sent again so late that its requester has sent it meanwhile. nullptr: none.
    const Episode* with_missing_copies() const {
        constexpr std::int64_t pause_ns = 250'000'000;  // of a busy host
        if (!timeout_ || case_.shows_what_requester_got())
            return nullptr;
        const auto found = std::ranges::find_if(course_.episodes, [&](const Episode& episode) {
            return (episode.why == Why::AnswerLost || episode.why == Why::DataLost) &&
                   episode.cost_ns > most_timeouts * *timeout_ + pause_ns;
        });
        return found == course_.episodes.end() ? nullptr : &*found;
    }

    void copies_lost(const Episode& episode) {
        Cause cause = case_.cause(
            Code::Loss, Certainty::Likely,
            fmt::format("the capture has the next copy of a request only after {}, and its "
                        "requester sends it again after at most {} ({}): the response was lost, "
                        "and so were the copies before they were captured.",
                        exact(episode.cost_ns), exact(most_timeouts * *timeout_),
                        timeout_text(direction_)));
        cause.cost_ns = episode.cost_ns;
        add_episode(case_, cause, episode);
        causes_.push_back(std::move(cause));
    }

    std::int64_t answered_cost() const {
        return course_.cost_of(Why::AnswerLost) + (data_ > 0 ? course_.cost_of(Why::DataLost) : 0);
    }
    // The shortest timers in use take as long.
    bool costs_time() const { return answered_cost() >= 1'000'000; }

    void needless() {
        const bool is_answered = answered_ + data_ > 0;
        const bool is_host = is_answered && case_.shows_what_requester_got();
        const std::size_t count = late_ + answered_ + data_;
        Cause cause = case_.cause(
            Code::NeedlessRetransmissions, is_answered ? Certainty::Possible : Certainty::Likely,
            fmt::format(
                "{}{}",
                count == 1 ? "a request was retransmitted"
                           : fmt::format("requests were retransmitted {}", times(count)),
                is_host
                    ? ", although the requester's host had the response: it was late to process it."
                : is_answered ? ", although the capture has the response: it reached the requester "
                                "too late, or "
                                "not at all."
                              : ", and nothing shows a loss: both copies arrived, and both were "
                                "acknowledged."));
        cause.cost_ns = course_.cost_of(Why::AnswerLate) + answered_cost();
        cause.try_this = "Look for a busy CPU at the requester, or use a longer ACK timeout.";
        if (is_answered && !is_host)
            cause.try_this += " A capture at the requester shows whether the responses arrive.";
        if (const Episode* example = course_.first(answered_ > 0 ? Why::AnswerLost
                                                   : data_ > 0   ? Why::DataLost
                                                                 : Why::AnswerLate))
            add_episode(case_, cause, *example);
        causes_.push_back(std::move(cause));
    }

    const Case& case_;
    const Direction& direction_;
    const Course& course_;
    Causes& causes_;
    std::optional<std::int64_t> timeout_;
    std::size_t late_, answered_;  // episodes; see Why::AnswerLate, Why::AnswerLost
    std::size_t data_, lost_;
};

}  // namespace

bool explain_late(const Case& one, std::size_t data, std::size_t lost, Causes& causes) {
    return Lateness(one, data, lost, causes).explain();
}

}  // namespace explain
