// What the two ends of a connection know, by the packets that passed: what the responder expects,
// what the requester has sent, and what of it is acknowledged. PSNs are offsets from the first one.
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
    /// The next packet of this connection.
    void see(const Packet& packet);
    /// A request that the link emulator took before it passed.
    void see_taken(std::int32_t offset) { behind_sent_ = std::max(behind_sent_, offset + 1); }
    /// A request that comes late or twice because the link emulator made it so.
    void see_held(std::int32_t offset) { held_.insert(offset); }

    /// What the responder takes next.
    std::int32_t expected() const { return expected_; }
    /// Behind the last PSN that the requester has used.
    std::int32_t behind_sent() const { return behind_sent_; }
    /// The oldest PSN that the requester has no answer for; behind_sent() where it has all.
    std::int32_t oldest_open() const { return oldest_open_; }
    /// The requests since the last answer are not what the responder expects.
    bool has_gap() const { return has_gap_; }
    /// The PSN that the responder asked for by a NAK "PSN sequence error", until it has come.
    std::optional<std::int32_t> asked_for() const { return asked_for_; }
    /// It has reached the requester, as far as can be seen.
    bool was_asked_for(std::int32_t offset) const { return asked_ && asked_for_ == offset; }
    /// A response came behind one that did not.
    bool misses_response() const { return misses_response_; }
    bool was_held(std::int32_t offset) const { return held_.contains(offset); }
    /// The last request that passed, and the last packet.
    const std::optional<Packet>& last_request() const { return last_request_; }
    const std::optional<Packet>& last() const { return last_; }

  private:
    void see_request(const Packet& packet);
    void see_response(const Packet& packet);
    std::int32_t first_unanswered_read() const;

    std::int32_t expected_ = 0;
    std::int32_t behind_sent_ = 0;
    std::int32_t oldest_open_ = 0;
    bool has_gap_ = false;
    std::optional<std::int32_t> asked_for_;
    bool asked_ = false;  // and the NAK arrived
    bool misses_response_ = false;
    std::set<std::int32_t> held_;
    std::optional<Packet> last_request_;
    std::optional<Packet> last_;
    // READs and atomics, whose answers no ACK replaces: from, and behind the last PSN.
    std::vector<std::pair<std::int32_t, std::int32_t>> awaited_;
};

}  // namespace predict
