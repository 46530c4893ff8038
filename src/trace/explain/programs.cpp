// Causes in the programs' own calls.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/explain/failed_call.hpp"
#include "trace/explain/rules.hpp"

namespace explain {
namespace {

class Programs {
  public:
    Programs(const Whole& whole, Causes& causes) : whole_(whole), causes_(causes) {}

    void explain() {
        for (const LoggedQueuePair& pair : whole_.logs.queue_pairs()) {
            for (const Completion& error : pair.errors)
                completion(pair, error);
            flushed(pair);
            datagrams(pair);
            no_reads(pair);
        }
        for (const runlog::Event& event : whole_.logs.notices()) {
            if (event.is("failed") && event[key::error] == "ENOMEM" &&
                (event[key::call] == "ibv_post_send" || event[key::call] == "ibv_wr_complete"))
                full(event);
        }
    }

  private:
    Cause& add(Code code, Certainty certainty, std::string text, std::string where) {
        return add_fatal(causes_, code, certainty, std::move(text), std::move(where));
    }

    void completion(const LoggedQueuePair& pair, const Completion& error) {
        const std::string where = whole_.where_of(pair, error.is_receive);
        const Post* post = error.post ? &*error.post : nullptr;
        const auto fault = error.status == "LOC_PROT_ERR" || error.status == "LOC_QP_OP_ERR"
                               ? memory_fault(whole_.logs, pair, error)
                               : std::nullopt;
        if (error.status == "LOC_PROT_ERR" || fault) {
            Cause& cause =
                add(Code::LocalProtection,
                    error.status == "LOC_PROT_ERR" ? Certainty::Certain : Certainty::Likely,
                    fmt::format("{} of {} used memory that its queue pair may not use.",
                                error.is_receive ? "a receive" : "a request", spoken(pair.role)),
                    where);
            if (post != nullptr)
                cause.add(evidence(pair, *post));
            cause.add(evidence(pair, error));
            if (fault)
                fault->add_to(cause);
        } else if (error.status == "LOC_LEN_ERR" || error.is_receive) {
            length(pair, error, post, where);
        } else if (error.status == "LOC_QP_OP_ERR" && post != nullptr && post->length != 0) {
            // The log has its first entries, and nothing is wrong with them.
            const bool is_unlikely = !error.sges.empty() && whole_.logs.is_whole(pair.role);
            Cause& cause =
                add(Code::LocalProtection, is_unlikely ? Certainty::Possible : Certainty::Likely,
                    fmt::format("a request of {} failed before it was sent: Soft-RoCE "
                                "reports memory that the queue pair may not use in "
                                "this way.",
                                spoken(pair.role)),
                    where);
            cause.add(evidence(pair, *post));
            cause.add(evidence(pair, error));
        } else if (post != nullptr &&
                   (error.status == "REM_OP_ERR" || error.status == "REM_INV_REQ_ERR")) {
            shared_receive(pair, error, *post);
        }
    }

    // Soft-RoCE of Linux 6.12 flushes a request whose own memory it may not use: no completion has the error.
    // A region that was deregistered after the request was posted is the program's normal end.
    void flushed(const LoggedQueuePair& pair) {
        if (!pair.flushed || !pair.flushed->post || !pair.errors.empty())
            return;
        Completion at_post = *pair.flushed;
        at_post.t_ns = at_post.post->t_ns;
        const auto fault = memory_fault(whole_.logs, pair, at_post);
        if (!fault)
            return;
        Cause& cause = add(
            Code::LocalProtection, Certainty::Likely,
            fmt::format("a request of {} was flushed although nothing had failed before, and it "
                        "used memory that its queue pair may not use.",
                        spoken(pair.role)),
            whole_.where_of(pair, false));
        cause.add(evidence(pair, *pair.flushed->post));
        cause.add(evidence(pair, *pair.flushed));
        fault->add_to(cause);
    }

    void shared_receive(const LoggedQueuePair& pair, const Completion& error, const Post& post) {
        const Direction* found = whole_.directions.of_requester(pair);
        if (found == nullptr || found->responder == nullptr || !post.opcode.starts_with("SEND"))
            return;
        const auto shared = too_long_for_shared(whole_.logs, *found->responder, post.length);
        if (!shared)
            return;
        Cause& cause = add(Code::ReceiveTooSmall, Certainty::Certain, shared->text, found->where());
        cause.add(evidence(pair, post));
        cause.add(evidence(pair, error));
        cause.add(shared->queue);
    }

    // Bytes of the longest datagram received, with the 40 bytes of the GRH; 0: unknown.
    std::uint64_t longest_datagram(const LoggedQueuePair& pair) const {
        constexpr std::uint64_t grh = 40;
        std::uint64_t longest = 0;
        for (const Direction& direction : whole_.directions)
            if (direction.responder == &pair && direction.is_datagram())
                for (const Seen* one : direction.requests)
                    longest = std::max(longest, one->payload + grh);
        return longest;
    }

    void length(const LoggedQueuePair& pair, const Completion& error, const Post* post,
                const std::string& where) {
        if (error.is_receive) {
            const std::uint64_t number = error.request.value_or(pair.receive_lengths.size());
            const bool is_known = !pair.srq && number < pair.receive_lengths.size();
            const std::uint64_t room =
                is_known ? pair.receive_lengths[static_cast<std::size_t>(number)] : 0;
            if (error.status != "LOC_LEN_ERR" && (!is_known || longest_datagram(pair) <= room))
                return;
            add(Code::ReceiveTooSmall, Certainty::Certain,
                is_known
                    ? fmt::format(
                          "a message does not fit into the posted receive, which has {} bytes.",
                          room)
                    : std::string("a message does not fit into the posted receive."),
                where)
                .add(evidence(pair, error));
        } else {
            Cause& cause = add(Code::LocalLength, Certainty::Certain,
                               fmt::format("a request of {} has a length that the queue pair "
                                           "cannot send.",
                                           spoken(pair.role)),
                               where);
            if (post != nullptr)
                cause.add(evidence(pair, *post));
            cause.add(evidence(pair, error));
        }
    }

    void full(const runlog::Event& event) {
        const LoggedQueuePair* pair = whole_.logs.pair_at(event);
        const std::uint64_t most = pair == nullptr ? 0 : pair->max_send_wr;
        const auto outstanding = event[key::sends_outstanding];
        const std::uint64_t refused = event[key::requests].value_or(1);
        // A device may also have no memory, or refuse the list of the request.
        const bool has_room =
            outstanding && (most == 0 ? *outstanding == 0 : *outstanding + refused <= most);
        std::pair queue(event.role, event[key::qpn]);
        if (has_room || full_.contains(queue) || !reasons_of(event, whole_.logs).empty())
            return;
        full_.insert(std::move(queue));
        Cause& cause = add(
            Code::SendQueueFull, outstanding && most != 0 ? Certainty::Certain : Certainty::Likely,
            fmt::format("the send queue had no free slot: {} was refused with ENOMEM.",
                        event[key::call]),
            pair == nullptr ? event.role : whole_.where_of(*pair, false));
        // Many programs post until the queue is full, and go on when it has room again.
        cause.is_fatal = is_failure(event, whole_.progress);
        cause.add(evidence(event));
        if (const std::string text = send_queue(event, pair); !text.empty())
            cause.add(value(event.role, text));
    }

    // A queue pair that may have no outstanding READ never sends one.
    void no_reads(const LoggedQueuePair& pair) {
        const auto waiting = std::ranges::find_if(
            pair.posts, [](const Post& post) { return !post.is_done && post.is_read_or_atomic(); });
        if (pair.max_rd_atomic != 0U || waiting == pair.posts.end())
            return;
        Cause& cause = add(Code::ReadDepth, Certainty::Certain,
                           fmt::format("{} may have no READ or atomic outstanding: it never sends "
                                       "the one that the program posted.",
                                       pair.called()),
                           whole_.where_of(pair, false));
        cause.add(evidence(pair, *waiting));
        cause.add(value(pair.role, "max_rd_atomic 0"));
    }

    // A datagram is one packet: a longer one is not sent, and the sender may not be notified.
    void datagrams(const LoggedQueuePair& pair) {
        const logged::Device* device = whole_.logs.devices().last_of(pair.role);
        const std::uint64_t most = device == nullptr ? 0 : device->path_mtu;
        if (!pair.is_datagram() || most == 0)
            return;
        const auto longer =
            std::ranges::find_if(pair.posts, [&](const Post& post) { return post.length > most; });
        if (longer == pair.posts.end())
            return;
        Cause& cause = add(Code::LocalLength, Certainty::Certain,
                           fmt::format("a datagram of {} bytes does not fit into one packet: the "
                                       "path MTU of the port is {}.",
                                       longer->length, most),
                           whole_.where_of(pair, false));
        cause.add(evidence(pair, *longer));
    }

    const Whole& whole_;
    Causes& causes_;
    std::set<std::pair<std::string, std::optional<std::uint32_t>>> full_;  // queue pairs told
};

}  // namespace

std::optional<TooLong> too_long_for_shared(const Logs& logs, const LoggedQueuePair& responder,
                                           std::uint64_t length) {
    if (!responder.srq || !logs.is_whole(responder.role))
        return std::nullopt;
    const auto longest = logs.longest_receive_of(responder.role, *responder.srq);
    if (!longest || length <= *longest)
        return std::nullopt;
    return TooLong{fmt::format("a message of {} bytes does not fit into the longest receive posted "
                               "to the shared receive queue, which has {} bytes.",
                               length, *longest),
                   value(responder.role, fmt::format("shared receive queue {} of {}",
                                                     *responder.srq, responder.called()))};
}

void explain_programs(const Whole& whole, Causes& causes) {
    Programs(whole, causes).explain();
}

}  // namespace explain
