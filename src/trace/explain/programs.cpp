// Causes in the programs' own calls.
#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "trace/explain/failed_call.hpp"
#include "trace/explain/rules.hpp"

namespace explain {
namespace {

std::string where_of(const LoggedQueuePair& pair) {
    return fmt::format("{}, QP {:#08x}", pair.role, pair.qpn);
}

// Returns the queue pair's direction, so that the cause is listed with the others of it.
std::string where_of(const LoggedQueuePair& pair, const std::vector<Direction>& directions,
                     bool as_responder) {
    const auto found = std::ranges::find_if(directions, [&](const Direction& one) {
        return (as_responder ? one.responder : one.requester) == &pair;
    });
    return found == directions.end() ? where_of(pair) : found->where();
}

class Programs {
  public:
    Programs(const Whole& whole, const std::vector<Direction>& directions, Causes& causes)
        : whole_(whole), directions_(directions), causes_(causes) {}

    void explain() {
        for (const LoggedQueuePair& pair : whole_.logs.queue_pairs()) {
            for (const Completion& error : pair.errors)
                completion(pair, error);
            overrun(pair);
            datagrams(pair);
            no_reads(pair);
        }
        for (const runlog::Event& event : whole_.logs.notices()) {
            if (event.is("failed") && event[key::error] == "ENOMEM" &&
                (event[key::call] == "ibv_post_send" || event[key::call] == "ibv_wr_complete"))
                full(event);
            if (event.is("async") && event[key::async_type].find("CQ_ERR") != std::string::npos)
                cq_error(event);
        }
    }

  private:
    Cause& add(Code code, Certainty certainty, std::string text, std::string where) {
        return add_fatal(causes_, code, certainty, std::move(text), std::move(where));
    }

    void completion(const LoggedQueuePair& pair, const Completion& error) {
        const std::string where = where_of(pair, directions_, error.is_receive);
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

    // A message that no receive of the responder's shared receive queue has room for. Which of them it
    // took is unknown.
    void shared_receive(const LoggedQueuePair& pair, const Completion& error, const Post& post) {
        const auto found = std::ranges::find(directions_, &pair, &Direction::requester);
        const LoggedQueuePair* responder = found == directions_.end() ? nullptr : found->responder;
        if (responder == nullptr || !responder->srq || !whole_.logs.is_whole(responder->role) ||
            !post.opcode.starts_with("SEND"))
            return;
        const auto longest = whole_.logs.longest_receive_of(responder->role, *responder->srq);
        if (!longest || post.length <= *longest)
            return;
        Cause& cause = add(
            Code::ReceiveTooSmall, Certainty::Certain,
            fmt::format("a message of {} bytes does not fit into the longest receive posted to the "
                        "shared receive queue, which has {} bytes.",
                        post.length, *longest),
            found->where());
        cause.add(evidence(pair, post));
        cause.add(evidence(pair, error));
        cause.add(value(responder->role, fmt::format("shared receive queue {} of {}",
                                                     *responder->srq, responder->called())));
    }

    // Bytes of the longest datagram received, with the 40 bytes of the GRH; 0: unknown.
    std::uint64_t longest_datagram(const LoggedQueuePair& pair) const {
        constexpr std::uint64_t grh = 40;
        std::uint64_t longest = 0;
        for (const Direction& direction : directions_)
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
            pair == nullptr ? event.role : where_of(*pair, directions_, false));
        // Many programs post until the queue is full, and go on when it has room again.
        cause.is_fatal = is_failure(event, whole_.logs);
        cause.add(evidence(event));
        if (const std::string text = send_queue(event, pair); !text.empty())
            cause.add(value(event.role, text));
    }

    void cq_error(const runlog::Event& event) {
        add(Code::CqOverrun, Certainty::Certain,
            "a completion queue had more completions than entries and stopped working.", event.role)
            .add(evidence(event));
    }

    // A queue pair that may have no outstanding READ never sends one.
    void no_reads(const LoggedQueuePair& pair) {
        const auto waiting = std::ranges::find_if(pair.posts, [](const Post& post) {
            return !post.is_done &&
                   (post.opcode == "RDMA_READ" || post.opcode.starts_with("ATOMIC"));
        });
        if (pair.max_rd_atomic != 0U || waiting == pair.posts.end())
            return;
        Cause& cause = add(Code::ReadDepth, Certainty::Certain,
                           fmt::format("{} may have no READ or atomic outstanding: it never sends "
                                       "the one that the program posted.",
                                       pair.called()),
                           where_of(pair, directions_, false));
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
                           where_of(pair, directions_, false));
        cause.add(evidence(pair, *longer));
    }

    // More requests without completion than the queue has entries, and no error that explains it.
    void overrun(const LoggedQueuePair& pair) {
        if (!pair.send_cq || !pair.errors.empty())
            return;
        const std::uint64_t entries = whole_.logs.entries_of(pair.role, *pair.send_cq);
        std::uint64_t due = 0;
        for (const Post& post : pair.posts)
            due += post.is_signaled && !post.is_done && !post.opcode.empty() ? 1 : 0;
        if (entries == 0 || due <= entries)
            return;
        Cause& cause =
            add(Code::CqOverrun, Certainty::Likely,
                fmt::format("{} signaled requests have no completion, and the completion queue "
                            "has {} entries.",
                            due, entries),
                where_of(pair, directions_, false));
        cause.add(value(
            pair.role, fmt::format("completion queue {} with {} entries", *pair.send_cq, entries)));
    }

    const Whole& whole_;
    const std::vector<Direction>& directions_;
    Causes& causes_;
    std::set<std::pair<std::string, std::optional<std::uint32_t>>> full_;  // queue pairs told
};

}  // namespace

void explain_programs(const Whole& whole, const std::vector<Direction>& directions,
                      Causes& causes) {
    Programs(whole, directions, causes).explain();
}

}  // namespace explain
