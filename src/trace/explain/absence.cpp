// Posted requests whose packets, or the last of them, the capture does not have.
#include <algorithm>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

class Absence {
  public:
    Absence(const Case& one, Causes& causes)
        : case_(one), direction_(one.direction), causes_(causes) {
        const Completion* error = one.error("RETRY_EXC_ERR");
        if (error != nullptr && error->post)
            failed_ = &*error->post;
    }

    // Returns whether a packet of the failed request was captured.
    bool has_failing() const {
        return failed_ == nullptr ? !direction_.requests.empty() : was_captured(*failed_);
    }

    // Neither the request nor a retransmission was captured, and the requester got no response.
    void never_arrived() {
        if (!case_.whole.has_capture ||
            (direction_.requests.empty() && !direction_.responses.empty()))
            return;
        const Post* post = unfinished();
        if (post == nullptr || (!has_anything_from_requester() && !is_place_of_responder()))
            return;
        const Seen* largest = direction_.largest_request();
        if (const std::uint64_t size = size_of(*post);
            largest != nullptr && largest->payload != 0 && size > largest->payload &&
            case_.course.last_answer != nullptr) {
            Cause& cause = add_larger(size, *largest);
            cause.add(evidence(*direction_.requester, *post));
            return;
        }
        // If the capture had ended before, it could not contain the request.
        const bool was_capturing = case_.whole.traffic.end_ns() > post->t_ns;
        Cause& cause =
            was_cut(*post)
                ? add(Code::PathBroken, Certainty::Likely,
                      "a posted request has no completion, and the capture ends in the middle of "
                      "it: neither the rest nor a retransmission came through.")
                : add(Code::PathBroken, was_capturing ? Certainty::Likely : Certainty::Possible,
                      fmt::format(
                          "a posted request has no completion, and the capture has no packet of "
                          "it: {}.",
                          was_capturing ? "the requests were lost before they were captured"
                                        : "the path broke, or the capture had ended"));
        cause.add(evidence(*direction_.requester, *post));
        if (case_.course.last_answer != nullptr)
            cause.add(evidence(*case_.course.last_answer));
    }

    // The capture does not contain the request that was posted and failed.
    void nothing_arrived() {
        if (!case_.whole.has_capture)
            return;
        const Seen* largest = direction_.largest_request();
        const std::uint64_t lost = failed_ == nullptr ? 0 : size_of(*failed_);
        if (largest != nullptr && lost > largest->payload && case_.course.last_answer != nullptr) {
            add_larger(lost, *largest);
            return;
        }
        if (!has_anything_from_requester() && !is_place_of_responder()) {
            return;
        }
        add(Code::PathBroken, Certainty::Likely,
            direction_.requests.empty()
                ? std::string(
                      "the capture has none of the posted requests: they were lost before it.")
                : std::string("at some point the posted requests stop appearing in the capture: "
                              "they were lost before it."));
    }

  private:
    Cause& add(Code code, Certainty certainty, std::string text) {
        causes_.push_back(silent_cause(case_, code, certainty, std::move(text)));
        return causes_.back();
    }

    bool was_captured(const Post& post) const {
        if (!post.psn_first || !post.psn_last)
            return !direction_.requests.empty();
        if (direction_.stream != nullptr && post.t_ns <= direction_.stream->forgotten_ns)
            return true;  // as far as is known
        const auto width =
            static_cast<std::uint32_t>(distance(*post.psn_first, *post.psn_last)) + 1;
        // The newest first: a request without completion is usually among them.
        return std::any_of(
            direction_.requests.rbegin(), direction_.requests.rend(),
            [&](const Seen* request) { return request->psn.is_within(*post.psn_first, width); });
    }

    // Returns whether the last packet captured is of this request, and not its last one: neither the
    // rest nor a retransmission followed.
    bool was_cut(const Post& post) const {
        if (direction_.requests.empty() || !post.psn_first || !post.psn_last)
            return false;
        const Seen& last = *direction_.requests.back();
        const auto width =
            static_cast<std::uint32_t>(distance(*post.psn_first, *post.psn_last)) + 1;
        return last.psn.is_within(*post.psn_first, width) && last.psn != *post.psn_last &&
               !last.is(wire::Operation::RdmaReadRequest) && case_.course.newest == &last;
    }

    // A posted request that has no completion until its queue pair or the log ends, although a
    // requester retransmits several times in that time.
    const Post* unfinished() const {
        constexpr std::int64_t least_wait_ns = 1'000'000'000;
        const LoggedQueuePair* requester = direction_.requester;
        if (requester == nullptr || !requester->errors.empty() ||
            !case_.whole.logs.is_whole(requester->role))
            return nullptr;
        std::int64_t end = case_.whole.logs.end_of(requester->role);
        for (const auto& ended : {requester->failed_ns, requester->destroyed_ns})
            end = std::min(end, ended.value_or(end));
        const auto found = std::ranges::find_if(requester->posts, [&](const Post& post) {
            return !post.is_done && post.has_packets() && end - post.t_ns >= least_wait_ns &&
                   (!was_captured(post) || was_cut(post));
        });
        return found == requester->posts.end() ? nullptr : &*found;
    }

    bool has_anything_from_requester() const {
        if (direction_.stream != nullptr)
            return true;
        const auto is_requester = [this](const flow::Host& host) {
            return case_.whole.logs.role_at(host) == direction_.requester_role;
        };
        return std::ranges::any_of(case_.whole.traffic.cm(),
                                   [&](const CmSeen& one) { return is_requester(one.from); }) ||
               std::ranges::any_of(case_.whole.traffic.streams(), [&](const KeptStream& one) {
                   return is_requester(one.key.src);
               });
    }

    bool is_place_of_responder() const {
        return case_.whole.place &&
               (case_.is_captured_at_responder() ||
                case_.whole.logs.role_at(*case_.whole.place) == direction_.responder_role);
    }

    Cause& add_larger(std::uint64_t size, const Seen& largest) {
        Cause& cause =
            add(Code::LargePacketsLost, Certainty::Likely,
                fmt::format("packets with up to {} bytes of payload arrived, but the capture "
                            "has no packet of a request whose packets have {} bytes.",
                            largest.payload, size));
        cause.add(evidence(largest));
        return cause;
    }

    // Payload bytes of the request's largest packet; 0: it has none.
    std::uint64_t size_of(const Post& post) const {
        if (post.opcode == "RDMA_READ")
            return 0;
        return direction_.path_mtu == 0 ? post.length
                                        : std::min<std::uint64_t>(post.length, direction_.path_mtu);
    }

    const Case& case_;
    const Direction& direction_;
    Causes& causes_;
    const Post* failed_ = nullptr;
};

}  // namespace

bool has_failed_request(const Case& one) {
    Causes none;
    return Absence(one, none).has_failing();
}

void explain_unfinished(const Case& one, Causes& causes) {
    Absence(one, causes).never_arrived();
}

void explain_absent(const Case& one, Causes& causes) {
    Absence(one, causes).nothing_arrived();
}

}  // namespace explain
