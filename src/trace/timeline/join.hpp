// Finds the event that caused a packet. For a packet of a queue pair the key is the PSN, not the
// time: each post_send event has the PSNs of its packets, on a queue pair whose number and peer are
// also in the log.
//
// A log that hides its PSNs (runlog/psn_mask.hpp) has their distances from the queue pair's first
// PSN instead. The first PSN is then that of the queue pair's first request packet on the wire. If
// that packet was lost before the capture, it is retransmitted before anything is acknowledged, and
// the packets should be processed once more (was_misled). If a capture began in the middle of a
// message, the packets of that queue pair, and of later ones with its number, remain without a
// cause.
//
// An RC or UC packet has no source QPN (IBTA volume 1, 9.2): a request was posted by the peer of
// its destination queue pair, and a response belongs to a request of its destination queue pair. If
// only the sender's log is available, the poster is the queue pair at the packet's source that is
// connected to that QPN. A datagram has the sender's QPN in its DETH; its queue pair uses one PSN
// sequence for all receivers. UC and UD have no responses: their work requests remain without an
// acknowledgement, and a completed one may have lost all its packets.
//
// A connection manager message belongs to the queue pair that its sender connects: a ConnectRequest
// and a ConnectReply contain its QPN, the others refer to one of these by communication IDs. A TCP
// segment belongs to the exchange if one of its ports is the port that the server listens on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runlog/event.hpp"
#include "trace/logged/collectives.hpp"
#include "trace/logged/objects.hpp"
#include "trace/timeline/packet_key.hpp"
#include "trace/timeline/packet_row.hpp"
#include "trace/timeline/send_queue.hpp"

namespace timeline {

class Join {
  public:
    /// Takes ready, post_send and wc events, and those of logged::QueuePairs and
    /// logged::Collectives, in order within each log; ignores others. Returns the work request that
    /// the event posts or completes, or nullptr. Valid until the next event.
    const WorkRequest* learn(const runlog::Event& event);

    /// Returns nullopt if no event so far explains the packet; a later call may succeed. The first
    /// calls for the packets must be in the order of the wire.
    std::optional<RequestPacket> place_of(const PacketKey& packet);
    std::optional<PostedRequest> cause_of(const PacketKey& packet);
    std::optional<SetUp> set_up_of(const CmKey& message);
    std::optional<SetUp> set_up_of(const SegmentKey& segment) const;
    /// Calls the function above that fits the row's key.
    Origin origin_of(const PacketRow& row);

    /// True if a log hides the first PSN of a queue pair. With all events known, was_misled() stays
    /// false otherwise.
    bool may_be_misled() const;
    /// True if the first PSN of a queue pair turned out to be another one than assumed: earlier
    /// results for its packets are wrong.
    bool was_misled() const;
    /// Takes over the first PSNs that `other` found. Call it after learning the same events, and
    /// before the first packet.
    void begin_as(const Join& other);

    /// All posted work requests, by queue pair. Valid until the next learn().
    std::vector<const WorkRequest*> work_requests() const;

  private:
    using QpKey = std::pair<std::string, std::uint32_t>;   // role, or receiving address, and QPN
    using CommId = std::pair<std::string, std::uint32_t>;  // IP address and communication ID

    // The send queues of a role's queue pairs with one number, one after the other.
    struct Queues {
        std::vector<SendQueue> all;
        std::size_t current = 0;  // the one of the last packet
    };

    bool has_queue(bool (SendQueue::*is_it)() const) const;
    void place(const std::string& role, const std::string& address);
    const WorkRequest* request_of(const runlog::Event& event);
    static void begin_queue(std::vector<SendQueue>& queues);
    void learn_peer(const QpKey& key, std::uint32_t dest_qpn);
    std::optional<RequestPacket> place_of_datagram(const PacketKey& packet);
    std::optional<RequestPacket> place_of_request(const PacketKey& packet);
    std::optional<RequestPacket> place_of_response(const PacketKey& packet);
    static std::optional<RequestPacket> account_in_turn(Queues& poster, const PacketKey& packet);
    std::optional<RequestPacket> account(const QpKey& poster, const PacketKey& packet);
    std::vector<std::string> peers_at(const std::string& source, const std::string& role) const;
    std::optional<std::string> role_with(const std::string& address, std::uint32_t qpn) const;

    logged::QueuePairs<> pairs_;
    logged::Collectives collectives_;
    std::multimap<std::string, std::string> roles_;  // IP address -> role; one host may have both
    // QPNs of the peers by own QPN, and own QPNs by the peer's QPN, both in order of use.
    std::map<QpKey, std::vector<std::uint32_t>> peers_, senders_;
    std::map<QpKey, Queues> queues_;
    std::map<QpKey, PacketKey> early_;  // by receiver: its first request packet without a cause
    std::map<CommId, std::uint32_t> connections_;  // -> QPN
    std::map<std::uint64_t, std::string> ports_;   // port that a server listens on -> its role
    std::uint32_t posts_ = 0;
};

}  // namespace timeline
