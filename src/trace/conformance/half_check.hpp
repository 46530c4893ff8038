// The two models of one direction, and what is counted of it, as its packets pass.
#pragma once

#include <cstdint>

#include "trace/conformance/finding.hpp"
#include "trace/conformance/half_connection.hpp"
#include "trace/conformance/requester.hpp"
#include "trace/conformance/responder.hpp"

namespace conformance {

class HalfCheck {
  public:
    HalfCheck(const HalfConnectionFacts& facts, Keep keep, Shared& shared)
        : facts_(facts),
          findings_(shared),
          responder_(facts, findings_, keep),
          requester_(facts, findings_, keep, shared) {
        shared.directions += keep == Keep::Window ? 1 : 0;
    }
    // The models refer to the findings.
    HalfCheck(const HalfCheck&) = delete;
    HalfCheck(HalfCheck&&) = delete;
    HalfCheck& operator=(const HalfCheck&) = delete;
    HalfCheck& operator=(HalfCheck&&) = delete;
    ~HalfCheck() = default;

    void take(StepKind kind, const ObservedPacket& seen);
    /// `end_ns`: of the capture's last frame.
    void finish(std::int64_t end_ns) {
        responder_.finish(end_ns);
        requester_.finish(end_ns);
    }

    struct Counts {
        std::uint64_t packets = 0;   ///< all that were sent or arrived
        std::uint64_t requests = 0;  ///< sent
        std::uint64_t responses = 0;
        std::uint64_t rnr_naks = 0;  ///< that arrived
        std::uint64_t lost = 0, doubled = 0, reordered = 0, corrupted = 0, changed = 0;
    };
    const Counts& counts() const { return counts_; }
    const HalfConnectionFacts& facts() const { return facts_; }
    const Responder& responder() const { return responder_; }
    const Requester& requester() const { return requester_; }
    HalfFindings& findings() { return findings_; }

  private:
    HalfConnectionFacts facts_;
    HalfFindings findings_;
    Responder responder_;
    Requester requester_;
    Counts counts_;
};

}  // namespace conformance
