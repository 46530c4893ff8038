// The PSNs of a stream's requests: new, retransmitted and missing ones.
//
// The PSN of a requester advances by one for each packet, except for a READ request, which takes as
// many PSNs as its response has packets (IBTA volume 1, 9.7.2 and 9.7.3.1).
#pragma once

#include <cstdint>
#include <optional>

#include "trace/flow/gaps.hpp"
#include "trace/flow/newest_packets.hpp"
#include "wire/psn.hpp"

namespace flow {

/// Payload bytes in each packet of a message except the last; 0: unknown.
using PathMtu = std::uint32_t;
inline constexpr PathMtu largest_path_mtu = 4096;

/// PSNs that a READ of `dmalen` bytes takes, at least 1; 1 if the path MTU is unknown.
constexpr std::uint32_t read_psns(std::uint32_t dmalen, PathMtu path_mtu) {
    return dmalen == 0 || path_mtu == 0 ? 1 : (dmalen - 1) / path_mtu + 1;
}

/// When a packet came, and its IPv4 identification (0: none).
struct Arrival {
    std::int64_t t_ns = 0;
    std::uint16_t ip_id = 0;
};

class RequestSequence {
  public:
    /// Sets the PSN of the first request, from the connection manager.
    void expect(wire::Psn first);

    /// Adds a request of `psns` PSNs.
    Novelty add(wire::Psn psn, std::uint32_t psns, const Arrival& arrival);

    /// Adds a packet whose sender uses one sequence for several receivers: records its PSN without
    /// a check.
    void add_unordered(wire::Psn psn);

    /// Adds a READ request while the path MTU is unknown; `dmalen` is nullopt if the capture
    /// truncated it. The next request's PSN, the response or the path MTU determines how many PSNs
    /// it took.
    Novelty add_open_read(wire::Psn psn, std::optional<std::uint32_t> dmalen,
                          const Arrival& arrival);
    /// True while the number of PSNs of the newest READ is unknown.
    bool is_read_open() const { return read_is_open_; }
    /// `last`: PSN of the last response to the READ.
    void end_open_read(wire::Psn last);
    void learn(PathMtu path_mtu);
    /// The path MTU derived from the PSN after an open READ; 0: unknown.
    PathMtu learnt_path_mtu() const { return learnt_path_mtu_; }

    bool started() const { return started_; }
    /// First PSN of the current sequence: the expected one, or the first seen.
    wire::Psn start() const { return start_; }
    /// The PSN after the last one in use.
    wire::Psn next() const { return next_; }
    /// Returns false if no request with this PSN can have been sent yet.
    bool has_sent(wire::Psn psn) const;

    /// PSN of the first packet seen.
    wire::Psn first_psn() const { return first_psn_; }
    std::uint64_t packets() const { return packets_; }
    /// PSNs used since the first packet seen, including missing ones.
    std::uint64_t psns() const { return psns_; }
    /// PSNs used per second, from the first request to the newest; 0 if no time passed.
    double psns_per_second() const;
    std::uint64_t repeats() const { return repeats_ - copies_; }
    /// Packets that were sent once and captured twice.
    std::uint64_t copies() const { return copies_; }
    std::uint64_t late() const { return late_; }
    /// Number of PSNs farther away than longest_jump.
    std::uint64_t restarts() const { return restarts_; }
    /// How many times the requests went to another sequence, or back to the one before.
    std::uint64_t departures() const { return departures_; }
    const Gaps& gaps() const { return gaps_; }
    /// Each packet occurs twice in quick succession: captured at two points.
    bool is_doubled() const;

  private:
    Novelty place(wire::Psn psn, std::uint32_t psns, const Arrival& arrival);
    Novelty behind(wire::Psn psn, std::uint32_t psns, const Arrival& arrival);
    std::int32_t farthest_back() const;
    void leave(wire::Psn psn);
    void close_open_read(wire::Psn next_request);
    void settle_open_read(std::uint32_t psns);

    wire::Psn next_;
    wire::Psn start_;
    wire::Psn first_psn_;
    bool started_ = false;
    bool read_is_open_ = false;
    bool dmalen_is_known_ = false;
    wire::Psn read_psn_;
    std::uint32_t dmalen_ = 0;
    std::uint32_t longest_read_ = 0;  // PSNs
    PathMtu learnt_path_mtu_ = 0;
    std::uint64_t packets_ = 0;
    std::uint64_t psns_ = 0;
    std::uint64_t psns_before_newest_ = 0;
    std::int64_t first_time_ = 0;
    std::int64_t newest_time_ = 0;
    std::uint64_t repeats_ = 0;  // with copies
    std::uint64_t copies_ = 0;
    std::uint64_t soon_repeats_ = 0;  // within soon_ns of the newest request
    std::uint64_t late_ = 0;
    std::uint64_t restarts_ = 0;
    std::uint64_t departures_ = 0;
    Gaps gaps_;
    // The sequence before the current one, to which the requests may go back: a changed or forged
    // packet is a sequence of its own.
    struct Left {
        wire::Psn start, next;
        Gaps::Open gaps;
    };
    std::optional<Left> left_;

    NewestPackets newest_;
};

}  // namespace flow
