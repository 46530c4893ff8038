// The order of a capture at one point. The two directions of a link often come to a capture on two ways:
// a switch's mirror, a tap with two ports, the queues of an adapter. Then a packet may be recorded before
// one that passed before it, with a time that is wrong in the same way.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/conformance/finding.hpp"
#include "trace/conformance/half_connection.hpp"
#include "trace/conformance/sequence.hpp"

namespace conformance {

/// Holds packets of a half connection back while their PSNs do not fit: a request behind a gap, a
/// response to a request that was not yet recorded. If the packets that are recorded next make them
/// fit, they passed in the order of their PSNs. Otherwise, they passed as they were recorded: packets
/// were lost, or a sequence NAK shows that they arrived out of order.
class RecordedOrder {
  public:
    /// Of mirrors and adapters, the ways to the capture differ by microseconds up to a few milliseconds.
    static constexpr std::int64_t longest_ns = 10'000'000;

    RecordedOrder(const HalfConnectionFacts& facts, Shared& shared);

    /// Whether the packet passes at once. If not, take() it.
    bool fits(const ObservedPacket& seen);
    /// Returns the packets that pass now, in their order.
    std::vector<ObservedPacket> take(const ObservedPacket& seen);
    /// Returns those that are still held.
    std::vector<ObservedPacket> finish();

    /// How many times packets were recorded in another order than they passed.
    std::uint64_t corrections() const { return corrections_; }

  private:
    struct Place {
        ExtendedPsn begin = 0, end = 0;
    };
    Place place_of(const ObservedPacket& seen) const;
    bool is_ahead(const ObservedPacket& seen) const;
    void pass(const ObservedPacket& seen);
    void hold(const ObservedPacket& seen);
    bool is_complete();
    std::vector<ObservedPacket> no_longer_held();
    std::vector<ObservedPacket> release();
    std::vector<ObservedPacket> in_order_of_psns();

    Shared& shared_;
    flow::PathMtu path_mtu_;
    Sequence sequence_;
    bool has_begun_ = false;
    ExtendedPsn sent_ = 0;  // behind the requests that passed
    ExtendedPsn next_ = 0;  // the same, or the first that was refused
    struct Held {
        std::vector<ObservedPacket> packets;  // as recorded
        ExtendedPsn end = 0;                  // behind the requests
        std::int64_t psns = 0;                // of the requests
        ExtendedPsn last_response = -1;
        bool may_fit = true;  // if more requests come
    };
    Held held_;
    std::uint64_t corrections_ = 0;
};

}  // namespace conformance
