// Requests and messages that are done, and whose completions the program did not poll until it was ended.
#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"
#include "trace/explain/timers.hpp"

namespace explain {
namespace {

constexpr std::int64_t least_ns = 2'000'000'000;

class Unpolled {
  public:
    Unpolled(const Case& one, Causes& causes)
        : case_(one), direction_(one.direction), causes_(causes) {}

    void explain() {
        if (!direction_.is_reliable() || case_.has_fatal(causes_))
            return;
        if (was_waiting(direction_.requester))
            requests();
        if (was_waiting(direction_.responder))
            messages();
    }

  private:
    const Logs& logs() const { return case_.whole.logs; }

    // The program was ended while it had a queue pair in order.
    bool was_waiting(const LoggedQueuePair* pair) const {
        return pair != nullptr && !pair->failed_ns && !pair->destroyed_ns && pair->errors.empty() &&
               logs().is_whole(pair->role) && logs().was_ended(pair->role);
    }

    bool has_waited_since(const LoggedQueuePair& pair, std::int64_t t_ns) const {
        return logs().end_of(pair.role) - t_ns >= least_ns;
    }

    void requests() {
        const LoggedQueuePair& pair = *direction_.requester;
        std::size_t count = 0;
        const Post* oldest = nullptr;
        const Seen* answer = nullptr;
        for (const Post& post : pair.posts) {
            if (post.is_done || !post.is_signaled || !post.has_packets())
                continue;
            const Seen* found = answer_to(direction_, post);
            if (found == nullptr || !has_waited_since(pair, std::max(found->t_ns, post.t_ns)))
                break;
            if (count++ == 0)
                std::tie(oldest, answer) = std::pair(&post, found);
        }
        if (oldest == nullptr)
            return;
        Cause& cause = add(pair, pair.send_cq,
                           fmt::format("{} of {} {} acknowledged", counted(count, "request"),
                                       spoken(pair.role), count == 1 ? "was" : "were"));
        cause.add(evidence(pair, *oldest));
        cause.add(evidence(*answer));
    }

    // More messages of the requester were executed than the responder has completions of receives.
    void messages() {
        const LoggedQueuePair& pair = *direction_.responder;
        if (pair.srq)
            return;
        if (direction_.requester == nullptr) {
            captured_messages();
            return;
        }
        if (!logs().is_whole(direction_.requester->role))
            return;
        std::uint64_t executed = 0;
        const Post* oldest = nullptr;
        for (const Post& post : direction_.requester->posts) {
            if (!post.takes_receive())
                continue;
            // Also a request that failed has a completion.
            const bool was_executed = post.is_done && !direction_.requester->failed_ns &&
                                      direction_.requester->errors.empty();
            const Seen* answer = was_executed ? nullptr : answer_to(direction_, post);
            if (!was_executed && answer == nullptr)
                break;
            if (!has_waited_since(pair, was_executed ? post.done_ns : answer->t_ns))
                break;
            if (executed++ == pair.received)
                oldest = &post;
        }
        if (oldest == nullptr)
            return;
        add_messages(pair, executed - pair.received, evidence(*direction_.requester, *oldest));
    }

    // The same without the requester's log.
    void captured_messages() {
        const LoggedQueuePair& pair = *direction_.responder;
        if (direction_.stream == nullptr)
            return;
        const std::uint64_t forgotten = direction_.stream->forgotten_receives;
        const std::vector<const Seen*> taken = taken_messages(direction_);
        const auto waited = std::ranges::find_if(
            taken, [&](const Seen* one) { return !has_waited_since(pair, one->t_ns); });
        const auto count = forgotten + static_cast<std::uint64_t>(waited - taken.begin());
        if (pair.received < forgotten || count <= pair.received)
            return;
        const Seen& oldest = *taken[static_cast<std::size_t>(pair.received - forgotten)];
        add_messages(pair, count - pair.received, evidence(oldest));
    }

    void add_messages(const LoggedQueuePair& pair, std::uint64_t count, Evidence oldest) {
        Cause& cause = add(pair, pair.recv_cq,
                           fmt::format("{} reached {}", counted(count, "message"), pair.called()));
        cause.add(std::move(oldest));
        cause.add(value(pair.role, fmt::format("{} completed", counted(pair.received, "receive"))));
    }

    Cause& add(const LoggedQueuePair& pair, std::optional<std::uint64_t> cq,
               const std::string& what) {
        const auto queue = cq ? logs().queue(pair.role, *cq) : Logs::CompletionQueue();
        const bool has_events = queue.armed_ns || queue.event_ns;
        const bool is_armed = queue.armed_ns && queue.event_ns.value_or(0) <= *queue.armed_ns;
        std::string text =
            fmt::format("{}, and its program did not poll {} until it ended", what,
                        what.starts_with("1 ") ? "the completion" : "the completions");
        std::string try_this;
        if (has_events && !is_armed) {
            text += ": it did not arm the completion queue again after the last event.";
            try_this =
                "After each event, call ibv_req_notify_cq first, then poll the completion queue "
                "until it is empty.";
        } else if (is_armed && queue.is_solicited_only) {
            text += ": it waited for a solicited message.";
            try_this =
                "Call ibv_req_notify_cq with solicited_only 0, or send with IBV_SEND_SOLICITED.";
        } else if (is_armed) {
            text +=
                ": it waited for an event. A completion that is in the queue before it is armed "
                "causes none.";
            try_this =
                "Call ibv_req_notify_cq first, then poll the completion queue until it is empty, "
                "and only then wait.";
        } else {
            text += '.';
        }
        Cause cause = case_.cause(
            Code::NotPolled, has_events ? Certainty::Likely : Certainty::Possible, std::move(text));
        // A program without events may poll late, and be ended while it has nothing to do.
        cause.is_fatal = has_events;
        cause.try_this = std::move(try_this);
        if (is_armed)
            cause.add({.role = pair.role,
                       .t_ns = *queue.armed_ns,
                       .text = fmt::format("completion queue {} armed", *cq)});
        else if (queue.event_ns)
            cause.add({.role = pair.role,
                       .t_ns = *queue.event_ns,
                       .text = fmt::format("completion queue {} has signalled its channel", *cq)});
        causes_.push_back(std::move(cause));
        return causes_.back();
    }

    const Case& case_;
    const Direction& direction_;
    Causes& causes_;
};

}  // namespace

const Seen* answer_to(const Direction& direction, const Post& post) {
    if (!post.psn_first || !post.psn_last)
        return nullptr;
    const auto found = std::ranges::find_if(direction.responses, [&](const Seen* response) {
        return response->acknowledges(*post.psn_last) &&
               distance(*post.psn_first, response->psn) >= 0;
    });
    return found == direction.responses.end() ? nullptr : *found;
}

std::vector<const Seen*> taken_messages(const Direction& direction) {
    const auto last =
        std::ranges::find_if(direction.responses.rbegin(), direction.responses.rend(),
                             [](const Seen* one) { return one->is_ack() || one->is_data(); });
    std::vector<const Seen*> taken;
    std::optional<wire::Psn> newest;
    for (const Seen* request : direction.requests) {
        const bool is_new = !newest || distance(*newest, request->psn) > 0;
        if (!is_new || last == direction.responses.rend() || !(*last)->acknowledges(request->psn))
            continue;
        newest = request->psn;
        if (takes_receive(*request))
            taken.push_back(request);
    }
    return taken;
}

void explain_unpolled(const Case& one, Causes& causes) {
    Unpolled(one, causes).explain();
}

}  // namespace explain
