// Which verbs call caused a packet. The key is not the time but the PSN: each post_send event names
// the PSNs its packets will carry, on a queue pair whose number and peer are in the log too.
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
    /// Takes note of device, qp_state and post_send events; the others have nothing to tell.
    void learn(const runlog::Event& event);

    /// nullopt where no event learned so far accounts for the packet.
    std::optional<Cause> cause_of(const PacketKey& packet);

  private:
    struct Post {
        std::uint64_t first;  // PSN counted on past 2^24
        std::uint32_t packets;
        std::uint64_t wr_id;
        std::string opcode;
        std::int64_t posted_ns;
    };
    struct Queue {
        std::vector<Post> posts;  // first rises
        std::uint64_t near = 0;   // a position close to the traffic of the moment, to count on from
    };
    using QpKey = std::pair<std::string, std::uint32_t>;  // role and QPN

    std::optional<Cause> find(const QpKey& poster, std::uint32_t psn);

    std::multimap<std::string, std::string> roles_;  // IP address -> role; one host may play both
    std::map<QpKey, std::uint32_t> peers_;           // -> QPN of the other end
    std::map<QpKey, Queue> queues_;
};

}  // namespace timeline
