// Datagrams dropped by the receiver.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"
#include "trace/explain/timers.hpp"

namespace explain {
namespace {

constexpr std::uint32_t multicast_qpn = 0xffffff;

class Datagrams {
  public:
    Datagrams(const Case& one, Causes& causes)
        : case_(one), direction_(one.direction), causes_(causes) {}

    void explain() {
        if (!direction_.is_datagram() || direction_.dest_qpn == multicast_qpn || to_itself() ||
            direction_.responder_role.empty())
            return;
        const bool is_captured = !direction_.requests.empty();
        if (direction_.responder == nullptr) {
            if (is_captured)
                no_queue_pair();
        } else if (!is_captured ||
                   (!other_q_key() && !not_ready() && !too_small() && !without_receive())) {
            lost();
        }
    }

  private:
    const LoggedQueuePair& receiver() const { return *direction_.responder; }

    bool is_log_whole() const { return case_.is_responders_log_there(); }

    Cause& add(Code code, std::string text) {
        Cause cause = case_.cause(code, Certainty::Certain, std::move(text));
        cause.is_fatal = true;
        cause.add(evidence(*direction_.requests.front()));
        causes_.push_back(std::move(cause));
        return causes_.back();
    }

    // The address handle has the sender's own GID, and none of its queue pairs has the number.
    bool to_itself() {
        const LoggedQueuePair* sender = direction_.requester;
        const Logs& logs = case_.whole.logs;
        if (sender == nullptr || !logs.is_whole(sender->role))
            return false;
        const auto own = std::ranges::find_if(sender->destinations, [&](const auto& one) {
            return logs.role_at(one.host) == sender->role && one.first < sender->posts.size() &&
                   logs.find(sender->role, sender->posts[one.first].dest_qpn).empty();
        });
        if (own == sender->destinations.end())
            return false;
        // Without the peer's log, a program that is not traced may have the queue pair.
        const bool is_elsewhere =
            std::ranges::any_of(logs.queue_pairs(), [&](const LoggedQueuePair& pair) {
                return pair.role != sender->role && pair.qpn == sender->posts[own->first].dest_qpn;
            });
        Cause cause = case_.cause(
            Code::WrongGid, is_elsewhere ? Certainty::Certain : Certainty::Likely,
            fmt::format("{} sends datagrams for queue pair {:#08x} to {}, which is its own host's "
                        "address, and it has no such queue pair.",
                        sender->called(), sender->posts[own->first].dest_qpn,
                        flow::text(own->host)));
        cause.is_fatal = true;
        cause.add(evidence(*sender, sender->posts[own->first]));
        cause.try_this =
            "Make the address handle with the peer's GID (ibv_create_ah, grh.dgid); for a reply, "
            "ibv_create_ah_from_wc takes it from the completion.";
        causes_.push_back(std::move(cause));
        return true;
    }

    void no_queue_pair() {
        if (is_log_whole() && case_.whole.logs.has_queue_pairs(direction_.responder_role))
            add(Code::WrongQpn, fmt::format("{} has no queue pair {:#08x}.", spoken(direction_.to),
                                            direction_.dest_qpn));
    }

    bool other_q_key() {
        const auto own = receiver().q_key;
        const auto wrong = std::ranges::find_if(direction_.requests, [&](const Seen* datagram) {
            return own && !datagram->lacks_headers && datagram->q_key != *own;
        });
        if (wrong == direction_.requests.end())
            return false;
        Cause& cause = add(
            Code::WrongQKey,
            fmt::format("the datagrams have Q_Key {:#010x}, but {} has {:#010x}: it drops them.",
                        (*wrong)->q_key, receiver().called(), *own));
        cause.evidence = {evidence(**wrong),
                          value(receiver().role, fmt::format("q_key {:#010x}", *own))};
        cause.is_fatal = receiver().received == 0;
        return true;
    }

    bool not_ready() {
        if (receiver().ready_ns || !is_log_whole() ||
            (receiver().state != "RESET" && receiver().state != "INIT"))
            return false;
        add(Code::PeerNotReady,
            fmt::format("{} never reached RTR: its state is {}. It drops datagrams.",
                        receiver().called(), receiver().state))
            .add(value(receiver().role, "state " + receiver().state));
        return true;
    }

    // The device writes a GRH, or leaves room for it, before the payload. Not every device reports an
    // error.
    bool too_small() {
        constexpr std::uint64_t grh = 40;
        const auto& posted = receiver().receive_lengths;
        if (!knows_receives() || posted.empty() ||
            std::ranges::any_of(receiver().errors, &Completion::is_receive))
            return false;
        const std::uint64_t largest = *std::ranges::max_element(posted);
        const auto lost = std::ranges::find_if(direction_.requests, [&](const Seen* datagram) {
            return datagram->payload + grh > largest;
        });
        if (lost == direction_.requests.end())
            return false;
        Cause& cause =
            add(Code::ReceiveTooSmall,
                fmt::format(
                    "a datagram of {} bytes takes {} of a receive, with the {} of the GRH before "
                    "it, and no receive of {} has more than {}: it drops the datagram.",
                    (*lost)->payload, (*lost)->payload + grh, grh, receiver().called(), largest));
        cause.is_fatal = receiver().receive_times.empty();
        cause.evidence.front() = evidence(**lost);
        cause.try_this = "Post receives 40 bytes longer than the longest datagram.";
        return true;
    }

    // A receive holds one datagram.
    bool without_receive() {
        if (!knows_receives())
            return false;
        const std::uint64_t posted = receiver().receive_lengths.size();
        const std::uint64_t arrived = datagrams_until_end();
        const std::uint64_t early = case_.is_captured_at_responder() ? datagrams_before_first() : 0;
        if (arrived <= posted && early == 0)
            return false;
        Cause& cause = add(
            Code::ReceiverNotReady,
            arrived > posted
                ? fmt::format(
                      "{} was sent {}, and its program posted {} in all: it drops the others.",
                      receiver().called(), counted(arrived, "datagram"), counted(posted, "receive"))
                : fmt::format(
                      "{} for {} arrived before its program posted the first receive: it drops "
                      "such datagrams.",
                      counted(early, "datagram"), receiver().called()));
        cause.is_fatal = receiver().receive_times.empty();
        cause.add(value(receiver().role,
                        fmt::format("{} posted, {} completed", counted(posted, "receive"),
                                    receiver().receive_times.size())));
        cause.try_this =
            "Post receives before the peer sends, and more of them: without one, a queue "
            "pair drops a datagram and reports nothing.";
        return true;
    }

    // The sender sent more datagrams than the receiver got, which had receives for them.
    void lost() {
        const LoggedQueuePair* sender = direction_.requester;
        if (case_.whole.passages != nullptr)
            return;  // see explain_both_ends()
        if (sender == nullptr || !knows_receives() || !case_.whole.logs.is_whole(sender->role) ||
            !case_.whole.logs.is_whole(receiver().role) || !receiver().ready_ns)
            return;
        const std::vector<const Post*> sent = sent_until_end();
        const std::uint64_t taken = receiver().receive_times.size();
        const std::uint64_t posted = receiver().receive_lengths.size();
        if (sent.size() <= taken || posted <= taken ||
            std::ranges::any_of(receiver().errors, &Completion::is_receive))
            return;
        const bool is_at_receiver = case_.is_captured_at_responder();
        if (is_at_receiver ? datagrams_until_end() >= sent.size() : !is_waiting())
            return;
        if (taken + direction_.damaged.size() >= sent.size()) {
            for (Cause& cause : causes_)
                cause.is_fatal |=
                    is_of_damage(cause) && case_.whole.logs.was_ended(receiver().role);
            return;
        }
        Cause cause = case_.cause(
            Code::Loss, is_at_receiver ? Certainty::Likely : Certainty::Possible,
            fmt::format(
                "{} sent {} to {}, and this received {}, although it had receives for more: "
                "{} lost, and the transport does not retransmit datagrams.",
                sender->called(), counted(sent.size(), "datagram"), receiver().called(), taken,
                packets(sent.size() - taken, "was", "were")));
        const auto is_last = [&](const Seen* datagram) {
            return sent.back()->psn_last && datagram->psn == *sent.back()->psn_last;
        };
        // Nothing came after it: both ends may wait for each other.
        cause.is_fatal = is_at_receiver && sent.back()->psn_last &&
                         std::ranges::none_of(direction_.requests, is_last);
        cause.add(evidence(*sender, *sent.back()));
        if (!direction_.requests.empty())
            cause.add(evidence(*direction_.requests.back()));
        cause.add(value(receiver().role,
                        fmt::format("{} posted, {} completed", counted(posted, "receive"), taken)));
        causes_.push_back(std::move(cause));
    }

    bool is_of_damage(const Cause& cause) const {
        return cause.where == direction_.where() &&
               (cause.code == Code::Corruption || cause.code == Code::WrongIcrc);
    }

    // Returns whether the receiver's program did not end by itself: it would have polled the completion
    // of a datagram that arrived.
    bool is_waiting() const {
        return !receiver().destroyed_ns &&
               std::ranges::none_of(case_.whole.logs.notices(), [&](const runlog::Event& event) {
                   return event.is("process_end") && event.role == receiver().role &&
                          event[key::exit_status];
               });
    }

    // The datagrams to this receiver, without those that may still have been on their way when it, or
    // its log, ended.
    std::vector<const Post*> sent_until_end() const {
        constexpr std::int64_t on_the_way_ns = 1'000'000'000;  // and the difference of the clocks
        std::int64_t end = case_.whole.logs.end_of(receiver().role);
        for (const auto& ended : {receiver().failed_ns, receiver().destroyed_ns})
            end = std::min(end, ended.value_or(end));
        std::vector<const Post*> sent;
        for (const Post& post : direction_.requester->posts)
            if (post.has_packets() && post.is_done && post.dest_qpn == direction_.dest_qpn &&
                post.q_key == receiver().q_key && post.t_ns < end - on_the_way_ns)
                sent.push_back(&post);
        return sent;
    }

    // Whether the log has all receives of this queue pair alone.
    bool knows_receives() const {
        const auto& all = case_.whole.logs.queue_pairs();
        const bool was_reset = receiver().failed_ns && receiver().state != "ERR";
        return !receiver().srq && !was_reset && is_log_whole() &&
               receiver().receive_times.size() <= receiver().receive_lengths.size() &&
               std::ranges::any_of(all, [&](const LoggedQueuePair& pair) {
                   return pair.role == receiver().role &&
                          (!pair.posts.empty() || !pair.receive_lengths.empty());
               });
    }

    bool is_to_receiver(const KeptStream& stream) const {
        const flow::StreamKey& own = direction_.stream->key;
        return stream.key.dst == own.dst && stream.key.network == own.network &&
               stream.key.dest_qpn == own.dest_qpn && stream.key.transport == own.transport;
    }

    // Each PSN once: a capture may have each packet twice. 0: not all are known.
    std::uint64_t datagrams_until_end() const {
        std::uint64_t count = 0;
        const std::int64_t end =
            receiver().failed_ns.value_or(receiver().destroyed_ns.value_or(INT64_MAX));
        for (const KeptStream& stream : case_.whole.traffic.streams()) {
            if (!is_to_receiver(stream))
                continue;
            if (stream.forgotten != 0)
                return 0;
            std::set<std::uint32_t> psns;
            for (const Seen& datagram : stream.packets)
                if (!datagram.is_damaged && datagram.t_ns < end &&
                    (!receiver().q_key || datagram.lacks_headers ||
                     datagram.q_key == *receiver().q_key))
                    psns.insert(datagram.psn.value());
            count += psns.size();
        }
        return count;
    }

    std::uint64_t datagrams_before_first() const {
        constexpr std::int64_t delay_ns = 2'000'000;  // a log entry may be slightly late
        if (!receiver().first_receive_ns)
            return 0;
        const std::int64_t begin = *receiver().first_receive_ns - delay_ns;
        return static_cast<std::uint64_t>(std::ranges::count_if(
            direction_.requests, [&](const Seen* datagram) { return datagram->t_ns < begin; }));
    }

    const Case& case_;
    const Direction& direction_;
    Causes& causes_;
};

}  // namespace

void explain_datagrams(const Case& one, Causes& causes) {
    Datagrams(one, causes).explain();
}

}  // namespace explain
