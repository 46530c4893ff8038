// Which verbs call caused a packet. The key is not the time but the PSN: each post_send event names
// the PSNs its packets will carry, on a queue pair whose number and peer are in the log too.
//
// A log that hides its PSNs (runlog/psn_mask.hpp) names their distance from the queue pair's first
// one instead. That one is then taken from the wire: it is the PSN of the first request packet seen
// of that queue pair. Where a capture began in the middle of a message, its first packet says
// nothing of the kind, and the packets of that queue pair, and of later ones of its number, remain
// without a cause.
//
// An RC packet has no source QPN (IBTA volume 1, 9.2): the poster of a request is the other end of
// the QP it is sent to, the poster behind a response is the QP it is sent to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runlog/event.hpp"

namespace timeline {

/// What the join needs of a packet of a connected queue pair.
struct PacketKey {
    std::string destination;     // IP address, digits
    std::uint32_t dest_qpn = 0;  // 24 bits
    std::uint32_t psn = 0;       // 24 bits
    bool is_response = false;    // ACK, NAK, READ response, atomic acknowledge
    bool starts_message = true;  // a request's: First, Only, READ request, atomic
};

struct Cause {
    std::string role;       // who posted
    std::uint32_t qpn = 0;  // the poster's
    std::uint64_t wr_id = 0;
    std::string opcode;          // "RDMA_WRITE"
    std::uint32_t packet = 0;    // which PSN of the request's, from 1
    std::uint32_t packets = 0;   // how many it has
    std::int64_t posted_ns = 0;  // the poster's clock
    bool is_response = false;

    bool operator==(const Cause&) const = default;
};

class Join {
  public:
    /// Takes note of device, qp, qp_state and post_send events, each log's in its order; the others
    /// have nothing to tell.
    void learn(const runlog::Event& event);

    /// nullopt where no event learned so far accounts for the packet; it may be asked for again
    /// later. A packet is to be asked for the first time in the order of the wire.
    std::optional<Cause> cause_of(const PacketKey& packet);

  private:
    using QpKey = std::pair<std::string, std::uint32_t>;  // role, or receiving address, and QPN

    struct Post {
        std::uint64_t first;  // position of its first PSN
        std::uint32_t packets;
        std::uint64_t wr_id;
        std::string opcode;
        std::int64_t posted_ns;
    };

    /// What one queue pair posted. A position counts on past 2^24, and begins so far above 0 that
    /// what lies a little before the first request has one, too.
    struct Queue {
        static constexpr std::uint64_t start = 0x1000000;

        enum class Base : std::uint8_t { Unknown, Known, NeverSeen };

        bool has_posts() const { return !posts.empty(); }
        void add(const runlog::Event& post);
        const Post* find(std::uint32_t psn);
        void begin_at(const PacketKey& first_request);

        std::vector<Post> posts;  // first rises
        bool hidden = false;      // the posts' events have offsets
        Base base_is = Base::Unknown;
        std::uint32_t base = 0;      // the PSN at position `start`
        std::uint64_t near = start;  // close to the traffic of the moment, to count on from
    };

    void begin_queue(const QpKey& key);
    std::optional<Cause> find(const QpKey& poster, const PacketKey& packet);

    std::multimap<std::string, std::string> roles_;  // IP address -> role; one host may play both
    std::map<QpKey, std::uint32_t> peers_;           // -> QPN of the other end
    std::map<QpKey, std::vector<Queue>> queues_;     // of queue pairs with that number, in turn
    std::map<QpKey, PacketKey> early_;  // by receiver: its first request packet without a cause
};

}  // namespace timeline
