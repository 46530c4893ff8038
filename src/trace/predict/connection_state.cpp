#include "trace/predict/connection_state.hpp"

#include <algorithm>
#include <limits>

namespace predict {

void ConnectionState::see(const ReliablePacket& packet) {
    if (packet.is_response())
        see_response(packet);
    else
        see_request(packet);
    last_ = packet;
}

void ConnectionState::see_request(const ReliablePacket& packet) {
    const std::int32_t behind = packet.offset + static_cast<std::int32_t>(packet.psns);
    const bool is_new = packet.offset >= behind_sent_;
    behind_sent_ = std::max(behind_sent_, behind);
    if (is_new && (packet.kind() == Kind::Read || packet.kind() == Kind::Atomic))
        awaited_.emplace_back(packet.offset, behind);
    last_request_ = packet;
    if (packet.is_damaged || packet.is_lost)
        return;
    has_gap_ = packet.offset > expected_;
    if (packet.offset != expected_)
        return;
    expected_ = behind;
    asked_for_.reset();
}

void ConnectionState::see_response(const ReliablePacket& packet) {
    if (packet.kind() == Kind::RnrNak)
        expected_ = packet.offset;  // not accepted
    if (packet.is_sequence_nak()) {
        asked_for_ = packet.offset;
        asked_ = !packet.is_damaged && !packet.is_lost;
    }
    if (packet.is_damaged || packet.is_lost)
        return;
    const bool refuses = packet.kind() == Kind::Nak || packet.kind() == Kind::RnrNak;
    if (packet.kind() == Kind::Response && !awaited_.empty()) {
        misses_response_ = packet.offset > awaited_.front().first;
        if (packet.offset == awaited_.front().first &&
            ++awaited_.front().first >= awaited_.front().second)
            awaited_.erase(awaited_.begin());
    }
    const std::int32_t until = refuses ? packet.offset : packet.offset + 1;
    oldest_open_ = std::max(oldest_open_, std::min(until, first_unanswered_read()));
}

std::int32_t ConnectionState::first_unanswered_read() const {
    return awaited_.empty() ? std::numeric_limits<std::int32_t>::max() : awaited_.front().first;
}

}  // namespace predict
