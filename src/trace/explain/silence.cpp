// Requesters that gave up, or retransmit a request until the end.
#include <algorithm>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"
#include "trace/explain/timers.hpp"

namespace explain {
namespace {

using wire::AethKind;

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
        if (only_ends_of_responses_arrive()) {
            large_responses_lost();
            return;
        }
        if (case_.course.silent != nullptr && !is_known_beforehand() &&
            explain_reported(case_, causes_))
            return;
        const bool repeats = case_.course.silent_copies.size() >= least_copies;
        if (error_ == nullptr && !repeats && !gave_up_over_answers()) {
            if (!was_abandoned())
                explain_unfinished(case_, causes_);
            return;
        }
        if (is_known_beforehand())
            return;  // see explain_set_up()
        if (only_ends_arrive())
            large_packets_lost();
        else if (gave_up_over_answers())
            answers_lost();
        else if (direction_.stream == nullptr || (error_ != nullptr && !has_failed_request(case_)))
            explain_absent(case_, causes_);
        else if (case_.course.silent != nullptr)
            explain_no_response(case_, causes_);
    }

  private:
    static constexpr std::size_t least_copies = 3;

    bool was_refused() const {
        return std::ranges::any_of(direction_.responses, [](const Seen* one) {
            return one->is_kind(AethKind::Nak) && one->aeth.code() != 0;
        });
    }

    // Another rule explains the failure by the setup of both ends.
    bool is_known_beforehand() const {
        return std::ranges::any_of(causes_, [this](const Cause& cause) {
            return cause.where == direction_.where() && cause.is_fatal &&
                   cause.certainty != Certainty::Possible;
        });
    }

    // The first response that acknowledges the newest request; nullptr: none.
    const Seen* answer_to_newest() const {
        const Seen* newest = case_.course.newest;
        if (newest == nullptr)
            return nullptr;
        const auto answer = std::ranges::find_if(direction_.responses, [&](const Seen* one) {
            return one->frame > newest->frame && acknowledges(*one, newest->psn);
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

    // No new request was sent, and the last one was retransmitted although its response was
    // captured. Without a log: as often as a requester may retransmit. More retransmissions show that
    // responses reach it.
    bool gave_up_over_answers() const {
        constexpr std::ptrdiff_t most_retries = 7;  // retry_cnt has three bits
        const Seen* newest = case_.course.newest;
        const Seen* answer = answer_to_newest();
        if (answer == nullptr || has_ended_well())
            return false;
        const auto copies = std::ranges::count_if(direction_.requests, [&](const Seen* request) {
            return request->frame > answer->frame && request->psn == newest->psn;
        });
        return error_ != nullptr ? copies >= std::ptrdiff_t{least_copies} - 1
                                 : copies == most_retries;
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

    void answers_lost() {
        const Seen& request = *case_.course.newest;
        const auto last = std::ranges::find(direction_.requests.rbegin(),
                                            direction_.requests.rend(), request.psn, &Seen::psn);
        const char* until = error_ != nullptr ? "until it gave up" : "again and again";
        Cause& cause =
            is_impatient()
                ? add(Code::TimeoutTooShort, Certainty::Likely,
                      fmt::format("the requester retransmitted a request {} before the response "
                                  "could reach it: {}, and retry_cnt {} gives it {} in all.",
                                  until, timeout_text(direction_), *direction_.requester->retry_cnt,
                                  exact(*all_retries_of(direction_))))
            : case_.is_captured_at_requester()
                ? add(Code::AcksLost, Certainty::Possible,
                      fmt::format("the responses to a request arrived at the requester's host, and "
                                  "the requester retransmitted it {}: its device ignores them.",
                                  until))
                : add(Code::AcksLost, Certainty::Likely,
                      fmt::format("the responder acknowledged a request, and the requester "
                                  "retransmitted it {}: the responses do not reach it.",
                                  until));
        cause.add(evidence(request));
        cause.add(evidence(*answer_to_newest()));
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
        if (!silence || is_known_beforehand() || is_stray())
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

    // Of a message, only the last packet arrives, which is the only one that may be short.
    bool only_ends_arrive() const {
        const Seen* silent = case_.course.silent;
        return silent != nullptr && silent->opcode->is_last() &&
               case_.course.silent_copies.size() >= least_copies &&
               std::ranges::none_of(direction_.requests,
                                    [&](const Seen* one) { return one->psn == silent->psn - 1; });
    }

    void large_packets_lost() {
        Cause& cause =
            add(Code::LargePacketsLost, Certainty::Likely,
                fmt::format("only the last packet of a message arrives, which has {} bytes of "
                            "payload: the full packets before it are lost each time.",
                            case_.course.silent->payload));
        if (case_.course.last_answer != nullptr)
            cause.add(evidence(*case_.course.last_answer));
    }

    // The responses of a READ that was requested repeatedly: each time, only the last one was
    // captured, which is the only one that may be short.
    bool only_ends_of_responses_arrive() const {
        const Seen* request = case_.course.newest;
        if (request == nullptr || !request->is(wire::Operation::RdmaReadRequest))
            return false;
        const auto copies = std::ranges::count(direction_.requests, request->psn, &Seen::psn);
        std::size_t ends = 0, others = 0;
        for (const Seen* response : direction_.responses)
            if (response->frame > request->frame && response->is(wire::Operation::RdmaReadResponse))
                ++(response->opcode->is_last() && response->psn != request->psn ? ends : others);
        return static_cast<std::size_t>(copies) >= least_copies && ends >= least_copies &&
               others == 0;
    }

    void large_responses_lost() {
        const Seen& request = *case_.course.newest;
        const auto last = std::ranges::find_if(direction_.responses, [&](const Seen* response) {
            return response->frame > request.frame && response->opcode->is_last();
        });
        Cause& cause = add(
            Code::LargePacketsLost, Certainty::Likely,
            fmt::format("of the responses to a READ, only the last packet arrives, which has {} "
                        "bytes of payload: the full packets before it are lost each time.",
                        (*last)->payload));
        cause.add(evidence(request));
        cause.add(evidence(**last));
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
