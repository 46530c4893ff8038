// What the two ends of a connection know, from the packets so far: the PSN that the responder
// expects, the requests that were sent, and those acknowledged. PSNs are offsets from the first
// one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "trace/predict/packet.hpp"

namespace predict {

class ConnectionState {
  public:
    /// Takes the next packet of this connection.
    void see(const ReliablePacket& packet);
    /// Takes a request that the link emulator removed before the capture point.
    void see_taken(std::int32_t offset) { behind_sent_ = std::max(behind_sent_, offset + 1); }
    /// Takes a request that is late or duplicated because of the link emulator.
    void see_held(std::int32_t offset) { held_.insert(offset); }

    /// The PSN that the responder expects next.
    std::int32_t expected() const { return expected_; }
    /// The PSN after the last one that the requester has used.
    std::int32_t behind_sent() const { return behind_sent_; }
    /// The oldest PSN without a response at the requester; behind_sent() if there is none.
    std::int32_t oldest_open() const { return oldest_open_; }
    /// True if the responder does not expect the requests since the last response.
    bool has_gap() const { return has_gap_; }
    /// The PSN of the responder's last NAK "PSN sequence error", until that packet arrives.
    std::optional<std::int32_t> asked_for() const { return asked_for_; }
    /// True if that NAK has reached the requester, as far as visible.
    bool was_asked_for(std::int32_t offset) const { return asked_ && asked_for_ == offset; }
    /// True if a response was captured after a missing one.
    bool misses_response() const { return misses_response_; }
    bool was_held(std::int32_t offset) const { return held_.contains(offset); }
    /// The last request captured, and the last packet.
    const std::optional<ReliablePacket>& last_request() const { return last_request_; }
    const std::optional<ReliablePacket>& last() const { return last_; }

  private:
    void see_request(const ReliablePacket& packet);
    void see_response(const ReliablePacket& packet);
    std::int32_t first_unanswered_read() const;

    std::int32_t expected_ = 0;
    std::int32_t behind_sent_ = 0;
    std::int32_t oldest_open_ = 0;
    bool has_gap_ = false;
    std::optional<std::int32_t> asked_for_;
    bool asked_ = false;  // and the NAK arrived
    bool misses_response_ = false;
    std::set<std::int32_t> held_;
    std::optional<ReliablePacket> last_request_;
    std::optional<ReliablePacket> last_;
    // READs and atomics, whose responses no ACK replaces: first PSN, and the PSN after the last.
    std::vector<std::pair<std::int32_t, std::int32_t>> awaited_;
};

}  // namespace predict
