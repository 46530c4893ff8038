// Which event caused a packet. For a packet of a queue pair the key is not the time but the PSN:
// each post_send event names the PSNs its packets will carry, on a queue pair whose number and peer
// are in the log too.
//
// A log that hides its PSNs (runlog/psn_mask.hpp) names their distance from the queue pair's first
// one instead. That one is then taken from the wire: it is the PSN of the first request packet of
// that queue pair. Where that one was lost before the capture, it is retransmitted before anything is
// acknowledged, and who can goes through the packets once more (was_misled). Where a capture began
// in the middle of a message, the packets of that queue pair, and of later ones of its number,
// remain without a cause.
//
// An RC or UC packet has no source QPN (IBTA volume 1, 9.2): the poster of a request is the other
// end of the QP it is sent to, the poster behind a response is the QP it is sent to. Where only the
// sender's log is there, the poster is the queue pair at the packet's source that is connected to
// that QPN. A datagram names its sender's in the DETH; its queue pair counts on from one to the
// next, whomever they are for. UC and UD have no responses: their work requests stay without an acknowledgement, and one
// that completes may have lost all its packets.
//
// A connection manager's message belongs to the queue pair that its sender connects: a
// ConnectRequest and a ConnectReply name it, the others name one of these by its communication IDs.
// A TCP segment belongs to the exchange when one of its ports is the one that the server listens
// on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runlog/event.hpp"
#include "trace/timeline/packet_key.hpp"
#include "trace/timeline/packet_row.hpp"
#include "trace/timeline/send_queue.hpp"

namespace timeline {

class Join {
  public:
    /// Takes note of ready, device, qp, qp_state, post_send and wc events, each log's in its order;
    /// the others have nothing to tell. Returns the work request that the event posts, or whose
    /// completion it is; nullptr where there is none. Valid until the next event.
    const WorkRequest* learn(const runlog::Event& event);

    /// nullopt where no event learned so far accounts for the packet; it may be asked for again
    /// later. A packet is to be asked for the first time in the order of the wire.
    std::optional<RequestPacket> place_of(const PacketKey& packet);
    std::optional<Cause> cause_of(const PacketKey& packet);
    std::optional<SetUp> set_up_of(const CmKey& message);
    std::optional<SetUp> set_up_of(const SegmentKey& segment) const;
    /// One of these, as the row has a key.
    Origin origin_of(const PacketRow& row);

    /// True where the first PSN of a queue pair turned out to be another one than was taken for it
    /// at first: what was said of its packets until then is wrong.
    bool was_misled() const;
    /// Takes the first PSNs that `other` found. It has learned the same events, and no packet was
    /// asked for yet.
    void begin_as(const Join& other);

    /// All that was posted, queue pair by queue pair. Valid until the next learn().
    std::vector<const WorkRequest*> work_requests() const;

  private:
    using QpKey = std::pair<std::string, std::uint32_t>;   // role, or receiving address, and QPN
    using CommId = std::pair<std::string, std::uint32_t>;  // IP address, and its ID

    void begin_queue(const QpKey& key);
    void learn_peer(const QpKey& key, std::uint32_t dest_qpn);
    std::optional<RequestPacket> place_of_datagram(const PacketKey& packet);
    std::optional<RequestPacket> place_of_request(const PacketKey& packet);
    std::optional<RequestPacket> place_of_response(const PacketKey& packet);
    std::optional<RequestPacket> account_in_turn(const QpKey& poster,
                                                 std::vector<SendQueue>& queues,
                                                 const PacketKey& packet);
    std::optional<RequestPacket> account(const QpKey& poster, const PacketKey& packet);
    std::vector<std::string> peers_at(const std::string& source, const std::string& role) const;
    std::optional<std::string> role_with(const std::string& address, std::uint32_t qpn) const;

    std::multimap<std::string, std::string> roles_;  // IP address -> role; one host may play both
    // Of queue pairs with that number, in turn: QPNs of the other end. And by the other end's QPN.
    std::map<QpKey, std::vector<std::uint32_t>> peers_, senders_;
    std::map<QpKey, std::vector<SendQueue>> queues_;  // of queue pairs with that number, in turn
    std::map<QpKey, std::size_t> current_;  // of several: the one that packets were of last
    std::map<QpKey, PacketKey> early_;      // by receiver: its first request packet without a cause
    std::set<QpKey> made_;                  // queue pairs that a log tells of
    std::map<CommId, std::uint32_t> connections_;  // -> QPN
    std::map<std::uint64_t, std::string> ports_;   // that a server said it listens on -> its role
    std::uint32_t posts_ = 0;
};

}  // namespace timeline
