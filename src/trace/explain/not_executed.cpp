// Requests that the responder did not execute: NAK Invalid Request or Remote Operational Error.
#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "trace/explain/refused_request.hpp"

namespace explain {
namespace {

using wire::AethKind;

class NotExecuted {
  public:
    NotExecuted(const Case& one, const RefusedRequest& request, Causes& causes)
        : case_(one), request_(request), causes_(causes) {}

    void explain() {
        if (request_.reason != Refused::Invalid)
            failed_there();
        else if (request_.is_forbidden_by(case_.direction.responder))
            add_forbidden(case_, request_, causes_);
        else if (request_.right == "remote_atomic" && request_.va % atomic_size != 0)
            misaligned();
        else if (is_read_or_atomic(request_.right))
            depth();
        else if (request_.fills_receive && !is_mtu_exceeded())  // see explain_set_up()
            receive();
        else if (!request_.fills_receive && is_responder_unknown())
            too_large_or_forbidden();
    }

  private:
    static constexpr std::uint64_t atomic_size = 8;  // bytes

    Cause& add(Code code, Certainty certainty, std::string text) {
        return add_refused(case_, request_, causes_, code, certainty, std::move(text));
    }

    // A cause that the request fits, and others that it fits. Nothing, if the ends are set up differently:
    // that explains the refusal.
    Cause* guess(Code code, Certainty certainty, std::string text,
                 std::initializer_list<Code> others) {
        if (std::ranges::any_of(causes_, [&](const Cause& one) {
                return one.where == case_.direction.where() && one.code >= Code::WrongPsn &&
                       one.code <= Code::WrongPKey;
            }))
            return nullptr;
        Cause& cause = add(code, certainty, std::move(text));
        for (const Code other : others)
            cause.consider(other, std::nullopt);
        return &cause;
    }

    bool is_responder_unknown() const { return case_.direction.responder_role.empty(); }

    void misaligned() {
        add(Code::Misaligned, Certainty::Certain,
            fmt::format("the address {:#x} of the atomic operation is not a multiple of {}.",
                        request_.va, atomic_size));
    }

    // The captured requests before the refused one were executed: a NAK acknowledges them.
    template <typename Predicate>
    bool was_executed(Predicate is_it) const {
        return std::ranges::any_of(case_.direction.requests, [&](const Seen* one) {
            return one->frame < request_.packet->frame &&
                   distance(one->psn, request_.packet->psn) > 0 && is_it(*one);
        });
    }

    // Whether a request was executed that requires such a right. Without the refused packet, by the
    // log of the requester.
    template <typename Predicate>
    bool was_right_used(Predicate is_it) const {
        if (request_.packet != nullptr)
            return was_executed([&](const Seen& one) { return is_it(right_of(one)); });
        return std::ranges::any_of(case_.direction.requester->posts, [&](const Post& post) {
            return post.is_done && post.done_ns < request_.refused_ns && is_it(right_of(post));
        });
    }

    // Returns whether the responder may have a smaller path MTU: it accepted no packet of that size.
    bool is_size_open() const {
        if (request_.packet == nullptr || request_.packet->opcode->is_only())
            return false;
        return !was_executed([&](const Seen& one) { return one.payload >= request_.payload; });
    }

    bool is_right_open() const {
        return !was_right_used([&](std::string_view right) { return right == request_.right; });
    }

    bool is_depth_open() const {
        return is_read_or_atomic(request_.right) && !was_right_used(is_read_or_atomic);
    }

    // Of a WRITE, only the packets' size and the queue pair's rights remain.
    void too_large_or_forbidden() {
        if (request_.packet == nullptr)
            return;
        // Hosts with larger packets than the usual interface allows often have another MTU.
        constexpr std::uint32_t usual = 1024;
        if (is_size_open() && (!is_right_open() || request_.payload > usual))
            smaller_path_mtu();
        else if (is_right_open())
            forbidden();
    }

    void smaller_path_mtu() {
        Cause* cause = guess(
            Code::PathMtuMismatch, Certainty::Possible,
            fmt::format("the refused packet has {} bytes of payload, and no packet of that size "
                        "was accepted before: the responder's path MTU is probably smaller.",
                        request_.payload),
            {});
        if (cause == nullptr)
            return;
        cause->try_this =
            "Compare the path MTU of both ends: the responder's run log (--log) has its own. "
            "If they are equal, its queue pair may not allow " +
            std::string(request_.right) + '.';
        if (is_right_open())
            cause->consider(Code::MissingAccessRight, std::nullopt);
    }

    void forbidden() {
        std::string text = fmt::format(
            "the first request that needs {} was refused as invalid: the responder's "
            "queue pair does not allow it",
            request_.right);
        if (is_size_open())
            text += fmt::format(", or its path MTU is smaller than the packet's {} bytes",
                                request_.payload);
        if (is_depth_open())
            text += ", or max_dest_rd_atomic is 0";
        Cause* cause = guess(Code::MissingAccessRight, Certainty::Possible, text + '.', {});
        if (cause != nullptr && is_size_open())
            cause->consider(Code::PathMtuMismatch, std::nullopt);
        if (cause != nullptr && is_depth_open())
            cause->consider(Code::ReadDepth, std::nullopt);
    }

    bool is_mtu_exceeded() const {
        const LoggedQueuePair* responder = case_.direction.responder;
        return responder != nullptr && responder->path_mtu != 0 &&
               request_.payload > responder->path_mtu;
    }

    // READs and atomics outstanding when the refused one was sent.
    std::size_t outstanding() const {
        if (request_.packet == nullptr)
            return 0;
        std::size_t count = 0;
        const Seen* answer = nullptr;
        for (const Seen* response : case_.direction.responses)
            if (response->frame < request_.packet->frame && !response->is_kind(AethKind::Nak))
                answer = response;
        for (const Seen* request : case_.direction.requests)
            if (request->frame <= request_.packet->frame && is_read_or_atomic(right_of(*request)) &&
                (answer == nullptr || distance(answer->psn, request->psn) > 0))
                ++count;
        return count;
    }

    void depth() {
        const LoggedQueuePair* responder = case_.direction.responder;
        const std::size_t count = outstanding();
        if (responder != nullptr && responder->max_dest_rd_atomic) {
            const std::uint64_t most = *responder->max_dest_rd_atomic;
            if (most != 0 && count <= most)
                return;
            Cause& cause =
                add(Code::ReadDepth, Certainty::Certain,
                    fmt::format("{} accepts {} READs and atomics at a time, and {} were "
                                "outstanding.",
                                responder->called(), most, std::max<std::size_t>(count, 1)));
            cause.add(value(responder->role, fmt::format("max_dest_rd_atomic {}", most)));
            cause.try_this = most == 0
                                 ? std::string(
                                       "Set max_dest_rd_atomic (RTR) of the responder to at least "
                                       "1: it accepts no READ and no atomic.")
                                 : fmt::format(
                                       "Set max_rd_atomic (RTS) of the requester to at most {}, or "
                                       "max_dest_rd_atomic (RTR) of the responder to {}.",
                                       most, count);
            if (case_.direction.requester != nullptr && case_.direction.requester->max_rd_atomic)
                cause.add(value(
                    case_.direction.requester->role,
                    fmt::format("max_rd_atomic {}", *case_.direction.requester->max_rd_atomic)));
            return;
        }
        for (const CmSeen& message : case_.whole.traffic.cm())
            if (message.responder_resources && case_.direction.stream != nullptr &&
                message.from == case_.direction.stream->key.dst &&
                message.qpn == case_.direction.dest_qpn && count > *message.responder_resources) {
                Cause& cause =
                    add(Code::ReadDepth, Certainty::Certain,
                        fmt::format("the responder accepts {} READs and atomics at a time "
                                    "(responder resources), and {} were outstanding.",
                                    *message.responder_resources, count));
                cause.add(evidence(message));
                return;
            }
        if (responder == nullptr && is_right_open() && (count < 2 || is_depth_open()))
            forbidden();
        else if (count > 1)
            guess(Code::ReadDepth, Certainty::Possible,
                  fmt::format("{} READs and atomics were outstanding: probably more than the "
                              "responder accepts (max_dest_rd_atomic).",
                              count),
                  {});
    }

    // The receive that a message used, and its error completion. Without an error completion: the
    // receive after the completed ones.
    struct Receive {
        const Completion* error = nullptr;
        std::optional<std::uint64_t> room;  // bytes; nullopt: unknown
    };
    static Receive receive_of(const LoggedQueuePair& responder) {
        Receive made;
        const auto error = std::ranges::find(responder.errors, true, &Completion::is_receive);
        std::uint64_t number = responder.receive_times.size();
        if (error != responder.errors.end()) {
            made.error = &*error;
            number = error->request.value_or(number);
        }
        if (!responder.srq && number < responder.receive_lengths.size())
            made.room = responder.receive_lengths[static_cast<std::size_t>(number)];
        return made;
    }

    void receive() {
        const LoggedQueuePair* responder = case_.direction.responder;
        if (responder != nullptr)
            too_small(receive_of(*responder));
        else if (is_responder_unknown() && is_size_open())
            guess(Code::ReceiveTooSmall, Certainty::Possible,
                  fmt::format("the responder refused a message of {} bytes: the posted receive is "
                              "shorter, or its path MTU is smaller than the packet's {} bytes.",
                              request_.length, request_.payload),
                  {Code::PathMtuMismatch});
        else if (is_responder_unknown())
            guess(Code::ReceiveTooSmall, Certainty::Likely,
                  fmt::format("the responder refused a message of {} bytes: the posted receive is "
                              "probably shorter.",
                              request_.length),
                  {});
    }

    bool too_small(const Receive& receive) {
        if (const auto shared = too_long_for_shared(case_.whole.logs, *case_.direction.responder,
                                                    request_.length)) {
            add(Code::ReceiveTooSmall, Certainty::Certain, shared->text).add(shared->queue);
            return true;
        }
        if (!receive.room || *receive.room >= request_.length)
            return false;
        Cause& cause = add(
            Code::ReceiveTooSmall, Certainty::Certain,
            fmt::format("a message of {} bytes does not fit into the posted receive of {} bytes.",
                        request_.length, *receive.room));
        if (receive.error != nullptr)
            cause.add(evidence(*case_.direction.responder, *receive.error));
        return true;
    }

    // The responder could not execute the request. For a message, the receive is the reason: it is
    // too short, or the queue pair may not write to its memory.
    void failed_there() {
        const LoggedQueuePair* responder = case_.direction.responder;
        if (!request_.fills_receive)
            return;
        if (is_responder_unknown() && request_.reason == Refused::Operational)
            guess(Code::ReceiveTooSmall, Certainty::Possible,
                  fmt::format("the responder could not execute a message of {} bytes: the posted "
                              "receive is shorter, or the responder may not write to its memory.",
                              request_.length),
                  {Code::LocalProtection});
        if (responder == nullptr)
            return;
        const Receive receive = receive_of(*responder);
        if (too_small(receive) || receive.error == nullptr)
            return;
        const auto fault = memory_fault(case_.whole.logs, *responder, *receive.error);
        const bool is_told = receive.error->status == "LOC_PROT_ERR";
        if (!is_told && !receive.room && !fault)
            return;
        Cause& cause = add(Code::LocalProtection, is_told ? Certainty::Certain : Certainty::Likely,
                           fmt::format("{} could not write the message into its receive buffer, "
                                       "although the buffer is long enough.",
                                       spoken(case_.direction.to)));
        cause.add(evidence(*responder, *receive.error));
        if (fault)
            fault->add_to(cause);
    }

    const Case& case_;
    const RefusedRequest& request_;
    Causes& causes_;
};

}  // namespace

void explain_not_executed(const Case& one, const RefusedRequest& request, Causes& causes) {
    NotExecuted(one, request, causes).explain();
}

}  // namespace explain
