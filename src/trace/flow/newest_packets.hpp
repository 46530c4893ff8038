// The newest requests, or the newest responses, that a sender sent.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "trace/flow/packet_ids.hpp"
#include "wire/psn.hpp"

namespace flow {

class NewestPackets {
  public:
    struct Packet {
        wire::Psn psn;
        std::uint16_t ip_id = 0;  ///< 0: none
        std::uint16_t form = 0;   ///< packets with another form are no copies
    };

    /// Takes the next packet that was sent; `is_new`: for the first time.
    void add(const Packet& packet, std::int64_t t_ns, bool is_new) {
        if (is_new)
            ids_.see(packet.ip_id);
        newest_[oldest_] = packet;
        oldest_ = (oldest_ + 1) % newest_.size();
        newest_ns_ = t_ns;
    }

    /// Whether one of them was captured again: it was sent once, see PacketIds.
    bool has_copy_of(const Packet& again, std::int64_t t_ns) const {
        return std::ranges::any_of(newest_, [&](const Packet& one) {
            return one.psn == again.psn && one.form == again.form &&
                   ids_.are_one(one.ip_id, again.ip_id, t_ns - newest_ns_);
        });
    }

  private:
    PacketIds ids_;
    std::array<Packet, 16> newest_{};
    std::size_t oldest_ = 0;  // an index of newest_
    std::int64_t newest_ns_ = 0;
};

}  // namespace flow
