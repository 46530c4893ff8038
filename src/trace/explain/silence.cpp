// Requesters that gave up, or retransmit a request until the end.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"
#include "trace/explain/timers.hpp"

namespace explain {
namespace {

class Silence {
  public:
    Silence(const Case& one, Causes& causes)
        : case_(one),
          direction_(one.direction),
          causes_(causes),
          error_(one.error("RETRY_EXC_ERR")) {}

    void explain() {
        if (!direction_.is_reliable()) {
            explain_reported(case_, causes_);
            return;
        }
        if (was_refused())
            return;
        if (explain_large_responses(case_, causes_))
            return;
        if (case_.course.silent != nullptr && !case_.is_end_explained(causes_) &&
            explain_reported(case_, causes_))
            return;
        const bool repeats = case_.course.silent_copies.size() >= least_copies;
        const Seen* ignored = gave_up_over_answers() ? case_.course.newest : never_heard();
        if (error_ == nullptr && !repeats && ignored == nullptr) {
            if (!was_abandoned() && !waits_without_limit())
                explain_unfinished(case_, causes_);
            return;
        }
        if (case_.is_end_explained(causes_))
            return;  // see explain_set_up()
        if (explain_end_at_both_ends(case_, causes_))
            return;
        if (explain_large_requests(case_, causes_))
            return;
        if (ignored != nullptr)
            answers_lost(*ignored);
        else if (direction_.stream == nullptr || (error_ != nullptr && !has_failed_request(case_)))
            explain_absent(case_, causes_);
        else if (case_.course.silent != nullptr)
            explain_no_response(case_, causes_);
    }

  private:
    static constexpr std::size_t least_copies = 3;

    bool was_refused() const {
        return std::ranges::any_of(direction_.responses, &Seen::is_fatal_nak);
    }

    // The first response after it that acknowledges a request; nullptr: none.
    const Seen* answer_to(const Seen* request) const {
        if (request == nullptr)
            return nullptr;
        const auto answer = std::ranges::find_if(direction_.responses, [&](const Seen* one) {
            return one->frame > request->frame && one->acknowledges(request->psn);
        });
        return answer == direction_.responses.end() ? nullptr : *answer;
    }

    // The program destroyed its queue pair, and no request failed. It need not have polled all
    // completions.
    bool has_ended_well() const {
        const LoggedQueuePair* requester = direction_.requester;
        return requester != nullptr && requester->errors.empty() && requester->destroyed_ns &&
               case_.whole.logs.is_whole(requester->role);
    }

    // An earlier request was retransmitted after its response was captured, and the requester went on:
    // here, responses are late, and not lost.
    bool was_heard_late() const {
        return std::ranges::any_of(case_.course.episodes, [&](const Episode& one) {
            return (one.why == Why::AnswerLate || one.why == Why::AnswerLost) &&
                   !one.is_same_packet && one.again->psn != case_.course.newest->psn &&
                   one.again->frame < case_.course.newest->frame;
        });
    }

    // No new request was sent, and the last one was retransmitted although its response was
    // captured. Without a log: as often as a requester may retransmit. More retransmissions show that
    // responses reach it.
    bool gave_up_over_answers() const {
        constexpr std::ptrdiff_t most_retries = 7;  // retry_cnt has three bits
        const Seen* newest = case_.course.newest;
        const Seen* answer = answer_to(newest);
        if (answer == nullptr || has_ended_well())
            return false;
        const auto copies = std::ranges::count_if(direction_.requests, [&](const Seen* request) {
            return request->frame > answer->frame && request->psn == newest->psn;
        });
        return error_ != nullptr ? copies >= std::ptrdiff_t{least_copies} - 1
                                 : copies == most_retries && !was_heard_late();
    }

    // The request whose copies the requester sends until the end, and sends nothing new, although each copy
    // is acknowledged: responses that are only late would reach it meanwhile. nullptr: none.
    const Seen* never_heard() const {
        constexpr std::size_t least = 8;
        constexpr std::int64_t least_ns = 1'000'000'000;
        const Seen* newest = case_.course.newest;
        if (newest == nullptr || has_ended_well())
            return nullptr;
        const wire::Psn psn = direction_.requests.back()->psn;
        const Seen* first = *std::ranges::find(direction_.requests, psn, &Seen::psn);
        const Seen* answer = answer_to(first);
        if (answer == nullptr)
            return nullptr;
        const Seen* since = nullptr;
        std::size_t copies = 0;
        for (const Seen* one : direction_.requests)
            if (one->psn == psn && one->frame > std::max(answer->frame, newest->frame)) {
                since = since == nullptr ? one : since;
                ++copies;
            }
        const auto responses = std::ranges::count_if(direction_.responses, [&](const Seen* one) {
            return since != nullptr && one->frame > since->frame && one->acknowledges(psn);
        });
        return copies >= least && static_cast<std::size_t>(responses) + 1 >= copies &&
                       direction_.requests.back()->t_ns - since->t_ns >= least_ns
                   ? first
                   : nullptr;
    }

    // Returns whether all attempts together take less time than a slow path or peer.
    bool is_impatient() const {
        constexpr std::int64_t patience_ns = 50'000'000;
        const auto retries = all_retries_of(direction_);
        return retries && *retries < patience_ns;
    }

    Cause& add(Code code, Certainty certainty, std::string text) {
        causes_.push_back(silent_cause(case_, code, certainty, std::move(text)));
        return causes_.back();
    }

    // Whether a response to the request arrived at the requester's host; nullopt: unknown.
    std::optional<bool> has_heard_of(const Seen& request) const {
        if (case_.is_captured_at_requester())
            return true;
        std::optional<bool> heard;
        if (case_.whole.passages == nullptr)
            return heard;
        for (const Seen* response : direction_.responses) {
            if (response->frame < request.frame || !response->acknowledges(request.psn))
                continue;
            const auto fate = case_.whole.passages->fate_of(response->frame);
            if (fate == Passage::Fate::Arrived || fate == Passage::Fate::Overtaken)
                return true;
            if (fate == Passage::Fate::Lost)
                heard = false;
        }
        return heard;
    }

    void answers_lost(const Seen& request) {
        const auto last = std::ranges::find(direction_.requests.rbegin(),
                                            direction_.requests.rend(), request.psn, &Seen::psn);
        const std::optional<bool> was_heard = has_heard_of(request);
        const char* until = error_ != nullptr ? "until it gave up" : "again and again";
        Cause& cause =
            is_impatient()
                ? add(Code::TimeoutTooShort, Certainty::Likely,
                      fmt::format("the requester retransmitted a request {} before the response "
                                  "could reach it: {}, and retry_cnt {} gives it {} in all.",
                                  until, timeout_text(direction_), *direction_.requester->retry_cnt,
                                  exact(*all_retries_of(direction_))))
            : was_heard == false
                ? add(Code::AcksLost, Certainty::Certain,
                      fmt::format("{} acknowledged a request, the requester retransmitted it {}, "
                                  "and none of the responses arrived at {}.",
                                  direction_.to, until, direction_.from))
            : was_heard == true
                ? add(Code::AcksLost, Certainty::Possible,
                      fmt::format("the responses to a request arrived at the requester's host, and "
                                  "the requester retransmitted it {}: its device ignores them.",
                                  until))
                : add(Code::AcksLost, Certainty::Likely,
                      fmt::format("the responder acknowledged a request, and the requester "
                                  "retransmitted it {}: the responses do not reach it.",
                                  until));
        cause.add(evidence(request));
        cause.add(evidence(*answer_to(&request)));
        cause.add(evidence(**last));
    }

    // The last request is so far ahead of the PSN that the responder expects that hardly so many
    // packets were lost before it: another host can have sent it, and its requester has nothing to
    // retransmit.
    bool is_stray() const {
        constexpr std::int32_t most_lost = 256;
        const Seen& nak = *case_.course.last_answer;
        return nak.is_sequence_nak() &&
               distance(nak.psn, direction_.requests.back()->psn) > most_lost &&
               std::ranges::none_of(direction_.requests,
                                    [&](const Seen* one) { return one->psn == nak.psn; });
    }

    // The responder asked for a packet again, and nothing came.
    bool was_abandoned() {
        const auto silence = abandoned_for(case_);
        if (!silence || case_.is_end_explained(causes_) || is_stray())
            return false;
        const Seen& nak = *case_.course.last_answer;
        Cause& cause =
            add(Code::PathBroken, Certainty::Possible,
                fmt::format("the responder asked for PSN {:#08x} again, and the requester sent "
                            "nothing in the {} after that: it ended, or the NAK was lost.",
                            nak.psn, exact(*silence)));
        cause.add(evidence(nak));
        return true;
    }

    // With timeout 0 a requester sends nothing again by itself: what is lost stays lost.
    bool waits_without_limit() {
        constexpr std::int64_t least_ns = 2'000'000'000;
        const LoggedQueuePair* requester = direction_.requester;
        const Logs& logs = case_.whole.logs;
        if (requester == nullptr || requester->timeout != 0U || !requester->errors.empty() ||
            requester->failed_ns || !logs.is_whole(requester->role) ||
            case_.is_end_explained(causes_) ||
            (case_.course.last_answer != nullptr && case_.course.last_answer->is_rnr_nak()))
            return false;
        const std::int64_t end = requester->destroyed_ns.value_or(logs.end_of(requester->role));
        const auto waiting = std::ranges::find_if(requester->posts, [&](const Post& post) {
            return !post.is_done && post.is_signaled && post.has_packets() &&
                   end - post.t_ns >= least_ns;
        });
        if (waiting == requester->posts.end() || !waiting->psn_last ||
            std::ranges::any_of(direction_.responses, [&](const Seen* response) {
                return response->acknowledges(*waiting->psn_last);
            }))
            return false;
        Cause cause = case_.cause(
            Code::Loss, Certainty::Likely,
            fmt::format("a request has no completion after {}, and {} waits for its response "
                        "without limit (timeout 0): a packet that is lost is not sent again.",
                        exact(end - waiting->t_ns), requester->called()));
        cause.is_fatal = true;
        cause.add(evidence(*requester, *waiting));
        cause.add(value(requester->role, "timeout 0 (without limit)"));
        cause.try_this = "Set timeout to 14 (67 ms) or more.";
        causes_.push_back(std::move(cause));
        return true;
    }

    const Case& case_;
    const Direction& direction_;
    Causes& causes_;
    const Completion* error_ = nullptr;
};

}  // namespace

Cause silent_cause(const Case& one, Code code, Certainty certainty, std::string text) {
    Cause cause = one.cause(code, certainty, std::move(text));
    cause.is_fatal = true;
    const Completion* error = one.error("RETRY_EXC_ERR");
    if (error != nullptr && error->post)
        cause.add(evidence(*one.direction.requester, *error->post));
    const auto& copies = one.course.silent_copies;
    if (one.course.silent != nullptr)
        cause.add(evidence(*one.course.silent));
    if (copies.size() > 1) {
        Evidence last = evidence(*copies.back());
        last.text += fmt::format("  (copy {})", copies.size());
        cause.add(std::move(last));
    }
    if (error != nullptr)
        cause.add(evidence(*one.direction.requester, *error));
    return cause;
}

void explain_silence(const Case& one, Causes& causes) {
    Silence(one, causes).explain();
}

}  // namespace explain
