// Receivers that were not ready: RNR NAKs.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

// A READ or an atomic takes no receive: the responder cannot send its response.
void refused_without_receive(const Case& one, Causes& causes) {
    const Course::Refused& refused = one.course.refused_without_receive;
    const bool is_known = std::ranges::any_of(causes, [&](const Cause& cause) {
        return cause.where == one.direction.where() && cause.is_fatal;
    });
    if (is_known)
        return;
    Cause cause = one.cause(
        Code::LargePacketsLost, Certainty::Likely,
        fmt::format("the responder answers a READ or an atomic with RNR NAKs ({}), although such a "
                    "request takes no receive: it cannot send the response. Soft-RoCE does so if "
                    "the response's packets are larger than the MTU of its interface.",
                    times(refused.count)));
    cause.is_fatal = one.course.last_answer != nullptr && one.course.last_answer->is_rnr_nak();
    cause.cost_ns = one.course.cost_of(Why::NotReady);
    cause.add(evidence(*refused.request));
    cause.add(evidence(*refused.nak));
    causes.push_back(std::move(cause));
}

}  // namespace

void explain_receiver(const Case& one, Causes& causes) {
    if (one.course.refused_without_receive.count != 0)
        return refused_without_receive(one, causes);
    const Direction& direction = one.direction;
    std::vector<const Seen*> naks;
    for (const Seen* response : direction.responses)
        if (response->is_kind(wire::AethKind::RnrNak))
            naks.push_back(response);
    const Completion* error = one.error("RNR_RETRY_EXC_ERR");
    if (naks.empty() && error == nullptr)
        return;
    const bool is_last =
        !naks.empty() && !direction.requests.empty() && one.course.last_answer == naks.back() &&
        (direction.requests.back()->frame < naks.back()->frame || direction.requester == nullptr);
    const std::int64_t lasted =
        direction.requests.empty() ? 0 : direction.requests.back()->t_ns - direction.begin_ns();
    const std::int64_t cost = one.course.cost_of(Why::NotReady);
    const bool is_fatal = error != nullptr || is_last;
    if (!is_fatal && one.course.rnr_naks < 3 && cost * 20 < lasted)
        return;
    Cause cause = one.cause(
        Code::ReceiverNotReady, Certainty::Certain,
        naks.empty()
            ? std::string("the responder had no receive posted until the requester gave "
                          "up.")
            : fmt::format("the responder had no receive posted {}{}.", times(one.course.rnr_naks),
                          is_fatal ? ", and the requester gave up" : ""));
    cause.is_fatal = is_fatal;
    cause.cost_ns = cost;
    if (!naks.empty()) {
        cause.add(evidence(*naks.front()));
        if (naks.size() > 1)
            cause.add(evidence(*naks.back()));
    }
    if (direction.requester != nullptr) {
        if (error != nullptr)
            cause.add(evidence(*direction.requester, *error));
        if (direction.requester->rnr_retry == 7U)
            cause.try_this = "Post receives before the peer sends, and more of them.";
        if (direction.requester->rnr_retry)
            cause.add(value(direction.requester->role,
                            fmt::format("rnr_retry {}", *direction.requester->rnr_retry)));
    }
    if (direction.responder != nullptr && !direction.responder->srq)
        cause.add(value(
            direction.responder->role,
            fmt::format("{} receives posted in all", direction.responder->receive_lengths.size())));
    causes.push_back(std::move(cause));
}

}  // namespace explain
