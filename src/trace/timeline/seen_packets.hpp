// Packets as joining needs them, without their text: 40 bytes each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/timeline/packet_row.hpp"

namespace timeline {

class SeenPackets {
  public:
    /// `packet`: its index in the capture, from 0.
    void add(std::size_t packet, const PacketRow& row);

    /// Calls visit(packet, row) for each in order. `row` has neither text nor origin.
    template <typename Visit>
    void for_each(Visit visit) const {
        for (const Seen& seen : all_)
            visit(std::size_t{seen.packet}, row_of(seen));
    }

  private:
    using Ends = std::pair<std::string, std::string>;  // source and destination
    enum class Key : std::uint8_t { None, Connected, Datagram, Cm, CmWithQpn, Segment };

    struct Seen {
        std::int64_t t_ns = 0;
        std::uint32_t packet = 0;
        std::uint32_t ends = 0;  // index in ends_
        // Connected and Datagram: dest_qpn, psn, source_qpn. Cm: local_id, remote_id, local_qpn.
        // Segment: source_port, destination_port.
        std::array<std::uint32_t, 3> numbers{};
        Key key = Key::None;
        CmKey::Kind cm{};
        bool is_roce = false, is_response = false, starts_message = false, is_nak = false;
    };
    static_assert(sizeof(Seen) <= 40);

    std::uint32_t number_of(const PacketRow& row);
    PacketRow row_of(const Seen& seen) const;

    std::deque<Seen> all_;
    std::vector<const Ends*> ends_;
    std::map<Ends, std::uint32_t> numbers_;  // by the ends: their index
};

}  // namespace timeline
