// The two ends expect different first PSNs.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "trace/conformance/recorded_order.hpp"
#include "trace/explain/rules.hpp"

namespace explain {
namespace {

using wire::AethKind;

class FirstPsn {
  public:
    FirstPsn(const Case& one, Causes& causes)
        : case_(one), direction_(one.direction), causes_(causes) {}

    bool explain() {
        const LoggedQueuePair* requester = direction_.requester;
        const LoggedQueuePair* responder = direction_.responder;
        if (requester != nullptr && responder != nullptr && requester->sq_psn &&
            responder->rq_psn) {
            if (*requester->sq_psn == *responder->rq_psn)
                return false;
            add_values(add_expected(Certainty::Certain, *requester->sq_psn, *responder->rq_psn));
            return true;
        }
        return by_responder() || by_answers();
    }

    // The requester does not begin where the connection manager's message told it to.
    bool by_announcement() {
        if (!direction_.is_reliable() || direction_.requests.empty())
            return false;
        const Seen& first = *direction_.requests.front();
        const auto announced = direction_.stream->facts.announced_instead_of(first.psn);
        if (!announced || !first.opcode->starts_message() || has_sent(*announced))
            return false;
        const bool is_behind = first.psn.is_before(*announced);
        const auto nak = std::ranges::find_if(direction_.responses, [&](const Seen* one) {
            return one->is_sequence_nak() && one->psn == *announced;
        });
        // The capture may lack the requests from the announced one on.
        if (!is_behind && (nak == direction_.responses.end() || !was_ignored(**nak)))
            return false;
        Cause& cause =
            add(Certainty::Certain,
                fmt::format("{} begins with PSN {:#08x}, but the connection manager announced "
                            "{:#08x}: the responder {}.",
                            spoken(direction_.from), first.psn, *announced,
                            is_behind ? "takes the requests before that one for copies of earlier "
                                        "ones, and executes none of them"
                                      : "expects that one"));
        compare_byte_orders(cause, first.psn, *announced);
        if (const CmSeen* message = announcement(first.frame)) {
            Evidence shown = evidence(*message);
            shown.text += fmt::format("  PSN {:#08x}", *announced);
            cause.evidence.insert(cause.evidence.begin(), std::move(shown));
        }
        if (!is_behind)
            cause.add(evidence(**nak));
        add_values(cause);
        return true;
    }

  private:
    static constexpr std::int64_t early_ns = conformance::RecordedOrder::longest_ns;

    bool has_sent(wire::Psn psn) const {
        return std::ranges::count(direction_.requests, psn, &Seen::psn) != 0;
    }

    // The responder's last ConnectRequest or ConnectReply before this frame.
    const CmSeen* announcement(std::uint64_t frame) const {
        const flow::StreamKey& key = direction_.stream->key;
        const CmSeen* newest = nullptr;
        for (const CmSeen& one : case_.whole.traffic.cm())
            if (one.frame < frame && one.from == key.dst && one.qpn == key.dest_qpn &&
                (one.attribute == wire::CmAttribute::ConnectRequest ||
                 one.attribute == wire::CmAttribute::ConnectReply))
                newest = &one;
        return newest;
    }

    // Nothing was ever acknowledged, and the responder expects another PSN.
    bool by_responder() {
        const LoggedQueuePair* responder = direction_.responder;
        if (responder == nullptr || !responder->rq_psn || direction_.requests.empty() ||
            !direction_.responses.empty())
            return false;
        const Seen& first = *direction_.requests.front();
        if (!first.opcode->starts_message() || first.psn == *responder->rq_psn)
            return false;
        add_values(add_expected(Certainty::Likely, first.psn, *responder->rq_psn));
        return true;
    }

    // The first response has a PSN that was never sent.
    bool by_answers() {
        if (direction_.requests.empty() || direction_.responses.empty())
            return false;
        const Seen& first = *direction_.requests.front();
        const Seen& answer = *direction_.responses.front();
        if (!first.opcode->starts_message())
            return false;
        const auto& facts = direction_.stream->facts;
        const LoggedQueuePair* requester = direction_.requester;
        const bool is_the_first = facts.first_psn == first.psn ||
                                  (requester != nullptr && requester->sq_psn == first.psn);
        // Nothing asks for requests before the first one: the capture recorded the NAK too early.
        const bool is_early =
            is_the_first && answer.is_sequence_nak() && first.t_ns - answer.t_ns < early_ns;
        if (answer.frame < first.frame && !is_early)
            return false;
        const std::int32_t ahead = distance(first.psn, answer.psn);
        constexpr std::int32_t far = 4096;
        if ((ahead >= 0 && (case_.course.was_first_answer_sent || was_sent_soon(answer))) ||
            ahead == 0)
            return false;
        if (ahead < 0 && !is_the_first && ahead > -far && !was_ignored(answer) &&
            !was_nothing_executed())
            return false;
        if (ahead > 0 && first.is(wire::Operation::RdmaReadRequest))
            return false;
        if (ahead < 0 && !answer.is_sequence_nak() && was_accepted(first))
            return false;
        Cause& cause =
            add(is_the_first ? Certainty::Certain : Certainty::Likely,
                fmt::format("{} begins with PSN {:#08x}, and the first response has {:#08x}, which "
                            "was never sent: the responder expects other PSNs.",
                            spoken(direction_.from), first.psn, answer.psn));
        if (answer.is_sequence_nak())
            compare_byte_orders(cause, first.psn, answer.psn);
        cause.add(evidence(answer));
        add_values(cause);
        return true;
    }

    // The answer may have been recorded before its request. If the responder expected other PSNs, the
    // first request would be sent again.
    bool was_sent_soon(const Seen& answer) const {
        const auto& all = direction_.requests;
        const bool is_first_repeated = std::ranges::count(all, all.front()->psn, &Seen::psn) > 1;
        return !is_first_repeated && std::ranges::any_of(all, [&](const Seen* request) {
            return request->psn == answer.psn && request->frame > answer.frame &&
                   request->t_ns - answer.t_ns < early_ns;
        });
    }

    // A requester that has sent the PSN of the NAK goes back to it. This one continues.
    bool was_ignored(const Seen& nak) const {
        if (!nak.is_sequence_nak() || nak.aeth.msn != 0)
            return false;
        std::size_t later = 0;
        for (const Seen* request : direction_.requests) {
            if (request->psn == nak.psn)
                return false;
            later += request->frame > nak.frame ? 1 : 0;
        }
        return later >= 2;
    }

    // Each ACK has a PSN before the first request, and says that no message was executed (MSN 0): the
    // responder takes the requests for duplicates of such that it never got.
    bool was_nothing_executed() const {
        constexpr std::size_t least = 3;
        const wire::Psn first = direction_.requests.front()->psn;
        return direction_.responses.size() >= least &&
               std::ranges::all_of(direction_.responses, [&](const Seen* one) {
                   return one->is_ack() && one->aeth.msn == 0 && distance(first, one->psn) < 0;
               });
    }

    bool was_accepted(const Seen& request) const {
        return std::ranges::any_of(direction_.responses, [&](const Seen* one) {
            return !one->is_kind(AethKind::Nak) && distance(request.psn, one->psn) >= 0;
        });
    }

    Cause& add_expected(Certainty certainty, wire::Psn sent, wire::Psn expected) {
        Cause& cause = add(
            certainty, fmt::format("{} begins with PSN {:#08x}, but {} expects {:#08x}.",
                                   spoken(direction_.from), sent, spoken(direction_.to), expected));
        compare_byte_orders(cause, sent, expected);
        return cause;
    }

    static void compare_byte_orders(Cause& cause, wire::Psn sent, wire::Psn expected) {
        if (!is_in_other_byte_order(sent.value(), expected.value()))
            return;
        cause.text += " These are the same number in different byte orders.";
        cause.try_this =
            "Exchange the first PSNs in one byte order: htonl before sending them, and "
            "ntohl after receiving.";
    }

    Cause& add(Certainty certainty, std::string text) {
        return add_fatal(case_, causes_, Code::WrongPsn, certainty, std::move(text));
    }

    void add_values(Cause& cause) const {
        const LoggedQueuePair* requester = direction_.requester;
        const LoggedQueuePair* responder = direction_.responder;
        if (requester != nullptr && requester->sq_psn)
            cause.add(value(requester->role, fmt::format("sq_psn {:#08x}", *requester->sq_psn)));
        if (responder != nullptr && responder->rq_psn)
            cause.add(value(responder->role, fmt::format("rq_psn {:#08x}", *responder->rq_psn)));
    }

    const Case& case_;
    const Direction& direction_;
    Causes& causes_;
};

}  // namespace

bool explain_announced_psn(const Case& one, Causes& causes) {
    return FirstPsn(one, causes).by_announcement();
}

bool explain_first_psn(const Case& one, Causes& causes) {
    return FirstPsn(one, causes).explain();
}

}  // namespace explain
