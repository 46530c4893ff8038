// The two models of one direction, and what is counted of it, as its packets pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "trace/conformance/finding.hpp"
#include "trace/conformance/half_connection.hpp"
#include "trace/conformance/recorded_order.hpp"
#include "trace/conformance/recovery.hpp"
#include "trace/conformance/requester.hpp"
#include "trace/conformance/responder.hpp"
#include "trace/flow/newest_packets.hpp"

namespace conformance {

class HalfCheck {
  public:
    HalfCheck(const HalfConnectionFacts& facts, Keep keep, Shared& shared)
        : facts_(facts),
          keep_(keep),
          shared_(shared),
          findings_(shared),
          responder_(facts, findings_, keep),
          requester_(facts, findings_, keep, shared),
          order_(facts, shared) {
        shared.directions += keep == Keep::All ? 0 : 1;
    }
    // The models refer to the findings.
    HalfCheck(const HalfCheck&) = delete;
    HalfCheck(HalfCheck&&) = delete;
    HalfCheck& operator=(const HalfCheck&) = delete;
    HalfCheck& operator=(HalfCheck&&) = delete;
    ~HalfCheck() = default;

    void take(StepKind kind, const ObservedPacket& seen);
    /// Of a capture at one point: the packet was sent and arrived.
    void take(const ObservedPacket& seen);
    /// All steps before this frame were taken. Finds the recoveries of the part before the last one,
    /// and forgets what came before it.
    void end_part(std::uint64_t frame);
    /// `end_ns`: of the capture's last frame.
    void finish(std::int64_t end_ns);

    struct Counts {
        std::uint64_t packets = 0;   ///< all that were sent or arrived
        std::uint64_t requests = 0;  ///< sent, including retransmissions
        std::uint64_t responses = 0;
        std::uint64_t rnr_naks = 0;  ///< that arrived
        std::uint64_t cut = 0;       ///< sent, and the capture cut off some of their headers
        /// Requests and responses, on their way.
        std::uint64_t lost = 0, doubled = 0, reordered = 0, corrupted = 0, changed = 0;
    };
    const Counts& counts() const { return counts_; }
    /// How many times packets were recorded in another order than they passed.
    std::uint64_t order_corrections() const { return order_.corrections(); }
    const HalfConnectionFacts& facts() const { return facts_; }
    const Responder& responder() const { return responder_; }
    const Requester& requester() const { return requester_; }
    HalfFindings& findings() { return findings_; }
    /// Complete after finish(). Of a capture at one point, there are none.
    std::vector<Recovery>& recoveries() { return recoveries_; }
    std::uint64_t recoveries_left_out() const { return recoveries_left_out_; }

  private:
    void pass(const ObservedPacket& seen);
    bool is_copy(const ObservedPacket& response);
    void find_recoveries(std::uint64_t end);

    HalfConnectionFacts facts_;
    Keep keep_;
    Shared& shared_;
    HalfFindings findings_;
    Responder responder_;
    Requester requester_;
    RecordedOrder order_;
    Counts counts_;
    flow::NewestPackets sent_responses_;
    std::uint64_t copied_request_ = 0;  // frame of the last one
    std::deque<Step> steps_;
    std::deque<std::uint64_t> part_ends_;  // frames: at most three
    std::uint64_t recoveries_until_ = 0;   // frame
    std::vector<Recovery> recoveries_;
    std::uint64_t recoveries_left_out_ = 0;
};

}  // namespace conformance
