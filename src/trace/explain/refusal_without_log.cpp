// Why the responder refused an access to its memory, without its log: by what the requester was told
// about the memory, and by the accesses that the responder executed before.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/explain/refused_request.hpp"

namespace explain {
namespace {

class WithoutLog {
  public:
    WithoutLog(const Case& one, const RefusedRequest& request, Causes& causes)
        : case_(one), request_(request), causes_(causes) {}

    // Uses what the requester was told about the memory.
    void as_told() {
        std::vector<const Told*> told;
        for (const Told& one : case_.whole.logs.told())
            if (one.role == case_.direction.requester_role)
                told.push_back(&one);
        const auto same = std::ranges::find_if(
            told, [this](const Told* one) { return one->rkey == request_.rkey; });
        if (!told.empty() && same == told.end()) {
            Cause& cause = add(Code::WrongRkey, Certainty::Likely,
                               fmt::format("rkey {:#010x} is not one of those that {} received.",
                                           request_.rkey, spoken(case_.direction.from)));
            cause.add(
                value(told.back()->role, fmt::format("received rkey {:#010x}", told.back()->rkey)));
            return;
        }
        if (same != told.end()) {
            Region region;
            region.va = (*same)->va;
            region.length = (*same)->length;
            if (!region.has(request_.va, request_.length)) {
                Cause& cause =
                    add(Code::OutOfBounds, Certainty::Likely, bounds_text(case_, request_, region));
                cause.add(value((*same)->role, fmt::format("received memory {:#x} + {} B",
                                                           region.va, region.length)));
                return;
            }
        }
        if (as_accepted_before())
            return;
        add(Code::RemoteAccess, Certainty::Certain,
            "the responder refused the access to its memory. Only its run log shows which of rkey, "
            "bounds, rights, registration and protection domain is wrong" +
                lack_of_log() + ".");
    }

    // Without the region: the accesses with the same rkey that the responder executed before.
    bool as_accepted_before() {
        if (request_.packet == nullptr)
            return as_completed_before();
        const Seen* same = nullptr;       // the same bytes, in the same way
        const Seen* otherwise = nullptr;  // the same bytes, in another way
        std::uint64_t end = 0;            // of what was accepted
        for (const Seen* one : case_.direction.requests) {
            if (one->frame >= request_.packet->frame ||
                distance(one->psn, request_.packet->psn) <= 0 || one->rkey != request_.rkey ||
                right_of(*one).empty())
                continue;
            end = std::max(end, one->va + one->dmalen);
            if (one->va > request_.va || one->va + one->dmalen < request_.va + request_.length)
                continue;
            (right_of(*one) == request_.right ? same : otherwise) = one;
        }
        if (add_known(same, otherwise, [](const Seen& known) { return evidence(known); }))
            return true;
        if (end == 0 || end >= request_.va + request_.length)
            return false;
        add(Code::OutOfBounds, Certainty::Possible,
            fmt::format("the responder executed accesses with this rkey before, up to {:#x}; this "
                        "one ends at {:#x}: probably behind the region.",
                        end, request_.va + request_.length));
        return true;
    }

  private:
    Cause& add(Code code, Certainty certainty, std::string text) {
        return add_refused(case_, request_, causes_, code, certainty, std::move(text));
    }

    // Why the responder's log does not show it.
    std::string lack_of_log() const {
        const std::string& role = case_.direction.responder_role;
        const Logs& logs = case_.whole.logs;
        return role.empty() || logs.is_whole(role)
                   ? std::string()
                   : fmt::format(", and the log of {} lacks {}", spoken(role),
                                 logs.is_gapless(role) ? "its beginning" : "events");
    }

    // The same by the requester's log.
    bool as_completed_before() {
        const LoggedQueuePair& requester = *case_.direction.requester;  // it has the completion
        if (!case_.whole.logs.is_whole(requester.role))
            return false;
        const Post* same = nullptr;
        const Post* otherwise = nullptr;
        for (const Post& post : requester.posts)
            if (post.is_done && post.done_ns < request_.refused_ns && post.rkey == request_.rkey &&
                post.remote_va <= request_.va &&
                post.remote_va + post.length >= request_.va + request_.length)
                (right_of(post) == request_.right ? same : otherwise) = &post;
        return add_known(same, otherwise,
                         [&](const Post& known) { return evidence(requester, known); });
    }

    // Adds what an executed access to the same bytes shows: `same`: one that needs the same right;
    // `otherwise`: another one. Returns whether there is one.
    template <typename Access, typename ToEvidence>
    bool add_known(const Access* same, const Access* otherwise, ToEvidence to_evidence) {
        const Access* known = same != nullptr ? same : otherwise;
        if (known == nullptr)
            return false;
        Cause& cause = add(
            same != nullptr ? Code::Deregistered : Code::MissingAccessRight, Certainty::Likely,
            same != nullptr
                ? "the responder executed such an access to the same bytes before: the region has "
                  "been deregistered or invalidated since."
                : fmt::format("the responder executed another access to the same bytes before: its "
                              "rkey and bounds are right, and {} is missing.",
                              request_.right));
        cause.evidence.insert(cause.evidence.begin(), to_evidence(*known));
        return true;
    }

    const Case& case_;
    const RefusedRequest& request_;
    Causes& causes_;
};

}  // namespace

void explain_without_log(const Case& one, const RefusedRequest& request, Causes& causes) {
    WithoutLog(one, request, causes).as_told();
}

bool explain_as_accepted(const Case& one, const RefusedRequest& request, Causes& causes) {
    return WithoutLog(one, request, causes).as_accepted_before();
}

}  // namespace explain
