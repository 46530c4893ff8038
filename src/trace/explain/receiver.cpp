// Receivers that were not ready: RNR NAKs.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"
#include "trace/explain/timers.hpp"

namespace explain {
namespace {

// A READ or an atomic takes no receive: the responder cannot send its response.
void refused_without_receive(const Case& one, Causes& causes) {
    const Course::Refused& refused = one.course.refused_without_receive;
    if (one.has_fatal(causes))
        return;
    Cause cause = one.cause(
        Code::LargePacketsLost, Certainty::Likely,
        fmt::format("the responder answers a READ or an atomic with RNR NAKs ({}), although such a "
                    "request takes no receive: it cannot send the response. Soft-RoCE does so if "
                    "the response's packets are larger than the MTU of its interface.",
                    times(refused.count)));
    constexpr std::uint64_t least = 3;  // a single one may be the end of the capture
    cause.is_fatal = one.course.last_answer != nullptr && one.course.last_answer->is_rnr_nak() &&
                     (refused.count >= least || abandoned_for(one));
    cause.cost_ns = one.course.cost_of(Why::NotReady);
    cause.add(evidence(*refused.request));
    cause.add(evidence(*refused.nak));
    causes.push_back(std::move(cause));
}

// What became of a requester that waits for a receive.
struct Ending {
    bool is_fatal = false;
    std::string text;
};

// `is_last`: the last RNR NAK was followed by no packet of the requester. `is_open`: the request that it
// refused was not accepted later.
Ending ending_of(const Case& one, bool is_last, bool is_open) {
    if (one.error("RNR_RETRY_EXC_ERR") != nullptr)
        return {true, ", and the requester gave up"};
    if (is_last && one.error("RETRY_EXC_ERR") != nullptr)
        return {true, ", and the requester's ACK timer expired too often while it waited"};
    if (const auto silence = is_open ? abandoned_for(one) : std::nullopt)
        return {true, fmt::format(", and the requester sent nothing in the {} after that",
                                  exact(*silence))};
    return {false, is_last ? ", and the capture has no request after that" : ""};
}

Evidence evidence_of_wait(const Seen& nak) {
    Evidence one = evidence(nak);
    if (nak.aeth.code() == 0)
        one.text += " (code 0, the longest)";
    return one;
}

// With rnr_retry, the requester decides how often it waits; with min_rnr_timer, the responder decides
// how long.
std::string advice_for(const Case& one, const Seen* nak, std::int64_t lasted) {
    const Direction& direction = one.direction;
    const auto retries = all_retries_of(direction);
    if (one.error("RETRY_EXC_ERR") != nullptr && nak != nullptr && retries &&
        wait_of(nak->aeth.code()) > *retries)
        return fmt::format(
            "Set min_rnr_timer of the responder to a time shorter than all ACK "
            "timeouts of the requester, {}, or post receives before the peer sends.",
            exact(*retries));
    const bool is_longest = nak != nullptr && nak->aeth.code() == 0;
    if (is_longest && one.course.cost_of(Why::NotReady) * 2 > lasted)
        return "Set min_rnr_timer of the responder (ibv_modify_qp to RTR): 0 is 655.36 ms, the "
               "longest, and 12 is 0.64 ms. Post receives before the peer sends.";
    const bool is_endless = direction.requester != nullptr && direction.requester->rnr_retry == 7U;
    return is_endless || one.error("RNR_RETRY_EXC_ERR") == nullptr
               ? "Post receives before the peer sends, and more of them."
               : "";
}

void add_settings(const Case& one, Cause& cause, const Completion* error) {
    const LoggedQueuePair* requester = one.direction.requester;
    const LoggedQueuePair* responder = one.direction.responder;
    if (requester != nullptr) {
        if (error != nullptr)
            cause.add(evidence(*requester, *error));
        if (requester->rnr_retry)
            cause.add(value(requester->role,
                            fmt::format("rnr_retry {}{}", *requester->rnr_retry,
                                        *requester->rnr_retry == 7 ? " (without limit)" : "")));
        if (error != nullptr && error->status == "RETRY_EXC_ERR" && all_retries_of(one.direction))
            cause.add(
                value(requester->role,
                      fmt::format("{}, retry_cnt {}: {} in all", timeout_text(one.direction),
                                  *requester->retry_cnt, exact(*all_retries_of(one.direction)))));
    }
    if (responder == nullptr)
        return;
    if (responder->min_rnr_timer)
        cause.add(
            value(responder->role, fmt::format("min_rnr_timer {} ({})", *responder->min_rnr_timer,
                                               exact(wait_of(*responder->min_rnr_timer)))));
    if (!responder->srq)
        cause.add(value(responder->role,
                        counted(responder->receive_lengths.size(), "receive") + " posted in all"));
}

}  // namespace

void explain_receiver(const Case& one, Causes& causes) {
    if (one.course.refused_without_receive.count != 0)
        return refused_without_receive(one, causes);
    const Direction& direction = one.direction;
    std::vector<const Seen*> naks;
    for (const Seen* response : direction.responses)
        if (response->is_rnr_nak())
            naks.push_back(response);
    const Completion* error = one.error("RNR_RETRY_EXC_ERR");
    if (naks.empty() && error == nullptr)
        return;
    const bool is_last = !naks.empty() && !direction.requests.empty() &&
                         one.course.last_answer == naks.back() &&
                         direction.requests.back()->frame < naks.back()->frame;
    const bool is_open = !naks.empty() && !one.course.last_answer->acknowledges(naks.back()->psn);
    const Ending ending = ending_of(one, is_last, is_open);
    const std::int64_t lasted =
        direction.requests.empty() ? 0 : direction.requests.back()->t_ns - direction.begin_ns();
    const std::int64_t cost = one.course.cost_of(Why::NotReady);
    if (!ending.is_fatal && !is_last && one.course.rnr_naks < 3 && cost * 20 < lasted)
        return;
    // This status belongs to another timer: it may have another cause.
    const bool is_timer = error == nullptr && is_last && one.error("RETRY_EXC_ERR") != nullptr;
    Cause cause = one.cause(
        Code::ReceiverNotReady, is_timer ? Certainty::Likely : Certainty::Certain,
        naks.empty()
            ? std::string("the responder had no receive posted until the requester gave up.")
            : fmt::format("the responder had no receive posted {}{}.", times(one.course.rnr_naks),
                          ending.text));
    cause.is_fatal = ending.is_fatal;
    cause.cost_ns = cost;
    if (!naks.empty())
        cause.add(evidence_of_wait(*naks.front()));
    if (naks.size() > 1)
        cause.add(evidence_of_wait(*naks.back()));
    add_settings(one, cause, is_timer ? one.error("RETRY_EXC_ERR") : error);
    cause.try_this = advice_for(one, naks.empty() ? nullptr : naks.back(), lasted);
    causes.push_back(std::move(cause));
}

}  // namespace explain
