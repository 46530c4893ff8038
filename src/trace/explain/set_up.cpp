// Two ends that were configured differently.
#include <algorithm>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

using wire::AethKind;

class SetUp {
  public:
    SetUp(const Case& one, Causes& causes)
        : case_(one), direction_(one.direction), causes_(causes) {}

    void explain() {
        if (direction_.is_datagram()) {
            if (!has_sent_any(direction_))
                partition();
            return;
        }
        if (explain_announced_psn(case_, causes_))
            return;
        if (!is_in_trouble()) {
            if (is_stalled() && !contradiction() && direction_.responder != nullptr)
                explain_first_psn(case_, causes_);
            return;
        }
        if (case_.has_succeeded()) {
            if (direction_.responder != nullptr && direction_.responder->ready_ns)
                late();
            return;
        }
        if (contradiction() || late() || partition() || explain_first_psn(case_, causes_))
            return;
        explain_path_mtu(case_, causes_);
    }

  private:
    // The setup of a working connection is not examined.
    bool is_in_trouble() const {
        if (!direction_.is_reliable())
            return true;
        if (direction_.requester != nullptr &&
            std::ranges::any_of(direction_.requester->errors,
                                [](const Completion& one) { return !one.is_receive; }))
            return true;
        if (case_.has_unfinished_read())
            return true;
        const bool has_nak = std::ranges::any_of(
            direction_.responses, [](const Seen* one) { return one->is_kind(AethKind::Nak); });
        return has_nak || case_.course.repeats > 0 ||
               (case_.course.silent != nullptr && direction_.responses.empty());
    }

    // The ends cannot be connected to each other in this way.
    bool contradiction() {
        return (!case_.was_answered() && explain_wrong_gid(case_, causes_)) ||
               explain_wrong_qpn(case_, causes_) || other_type() || never_ready();
    }

    // A queue pair drops packets of another transport.
    bool other_type() {
        const LoggedQueuePair* requester = direction_.requester;
        const LoggedQueuePair* responder = direction_.responder;
        if (requester == nullptr || responder == nullptr || requester->type.empty() ||
            responder->type.empty() || requester->type == responder->type || case_.was_answered())
            return false;
        Cause& cause =
            add(Code::WrongQpn, Certainty::Certain,
                fmt::format("the requests are of type {}, and {} is of type {}: it drops them.",
                            requester->type, responder->called(), responder->type));
        cause.add(value(requester->role, "type " + requester->type));
        cause.add(value(responder->role, "type " + responder->type));
        cause.try_this = "Create both queue pairs with the same type (qp_type).";
        return true;
    }

    // A request waits for its completion much longer than a requester that retransmits. A program
    // that does not poll looks the same.
    bool is_stalled() const {
        constexpr std::int64_t least_wait_ns = 1'000'000'000;
        const LoggedQueuePair* requester = direction_.requester;
        if (requester == nullptr || !case_.whole.logs.is_whole(requester->role))
            return false;
        std::int64_t end = case_.whole.logs.end_of(requester->role);
        for (const auto& ended : {requester->failed_ns, requester->destroyed_ns})
            end = std::min(end, ended.value_or(end));
        return std::ranges::any_of(requester->posts, [&](const Post& post) {
            return !post.is_done && post.has_packets() && end - post.t_ns >= least_wait_ns;
        });
    }

    Cause& add(Code code, Certainty certainty, std::string text) {
        return add_fatal(case_, causes_, code, certainty, std::move(text));
    }

    bool never_ready() {
        const LoggedQueuePair* responder = direction_.responder;
        if (responder == nullptr || responder->ready_ns || case_.was_answered() ||
            !case_.is_responders_log_there())
            return false;
        Cause& cause = add_not_ready(fmt::format("{} never reached RTR: its state is {}.",
                                                 responder->called(), responder->state));
        cause.add(value(responder->role, "state " + responder->state));
        return true;
    }

    // Went to RTR after the first request.
    bool late() {
        const LoggedQueuePair* responder = direction_.responder;
        const std::int64_t first = direction_.begin_ns();
        constexpr std::int64_t delay_ns = 2'000'000;  // a log entry may be slightly late
        const std::int64_t doubt_ns = case_.is_captured_at_responder() ? delay_ns : 100 * delay_ns;
        if (responder == nullptr || !responder->ready_ns || direction_.requests.empty() ||
            *responder->ready_ns <= first + doubt_ns ||
            was_answered_within(*responder->ready_ns - first))
            return false;
        Cause& cause = add_not_ready(
            fmt::format("{} went to RTR {:.1f} ms after the first request.", responder->called(),
                        static_cast<double>(*responder->ready_ns - first) / 1e6));
        cause.is_fatal = !case_.was_answered();
        cause.cost_ns = *responder->ready_ns - first;
        cause.add({.role = responder->role,
                   .t_ns = *responder->ready_ns,
                   .text = fmt::format("queue pair {:#08x} went to RTR", responder->qpn)});
        return true;
    }

    // By the capture alone, or by the requester's log alone: the clocks may be wrong.
    bool was_answered_within(std::int64_t ns) const {
        const Seen* response = direction_.first_response();
        if (response != nullptr && response->t_ns < direction_.begin_ns() + ns)
            return true;
        const LoggedQueuePair* requester = direction_.requester;
        return requester != nullptr && has_executed(*requester) &&
               requester->posts.front().took_less_than(ns);
    }

    Cause& add_not_ready(std::string text) {
        Cause& cause = add(Code::PeerNotReady, Certainty::Certain, std::move(text));
        if (direction_.requests.empty() && direction_.requester != nullptr &&
            !direction_.requester->posts.empty())
            cause.add(evidence(*direction_.requester, direction_.requester->posts.front()));
        return cause;
    }

    // Whether the receiver's host sent anything but messages of the connection manager.
    bool has_sent_any(const Direction& direction) const {
        return direction.stream == nullptr ||
               std::ranges::any_of(case_.whole.traffic.streams(), [&](const KeptStream& one) {
                   return one.key.src == direction.stream->key.dst;
               });
    }

    bool partition() {
        if (direction_.requests.empty() || case_.was_answered())
            return false;
        constexpr std::uint16_t members = 0x7fff;
        const std::uint16_t own = direction_.requests.front()->p_key;
        std::optional<std::uint16_t> other;
        const char* whose = "the packets of the other end have";
        if (direction_.back != nullptr && !direction_.back->packets.empty())
            other = direction_.back->packets.front().p_key;
        const flow::StreamKey& key = direction_.stream->key;
        for (const CmSeen& message : case_.whole.traffic.cm())
            if (!other && message.p_key != 0 &&
                ((message.from == key.src && message.to == key.dst) ||
                 (message.from == key.dst && message.to == key.src))) {
                other = message.p_key;
                whose = "the ConnectRequest has";
            }
        const std::uint16_t expected = other.value_or(0xffff);
        if ((own & members) == (expected & members))
            return false;
        add(Code::WrongPKey, other ? Certainty::Certain : Certainty::Likely,
            fmt::format("the requests have P_Key {:#06x}, but {} {:#06x}.", own,
                        other ? whose : "the default partition is", expected));
        return true;
    }

    const Case& case_;
    const Direction& direction_;
    Causes& causes_;
};

}  // namespace

void explain_set_up(const Case& one, Causes& causes) {
    SetUp(one, causes).explain();
}

}  // namespace explain
