#include "trace/timeline/seen_packets.hpp"

namespace timeline {

std::uint32_t SeenPackets::number_of(const PacketRow& row) {
    const auto [entry, is_new] = numbers_.try_emplace({row.source, row.destination},
                                                      static_cast<std::uint32_t>(ends_.size()));
    if (is_new)
        ends_.push_back(&entry->first);
    return entry->second;
}

void SeenPackets::add(std::size_t packet, const PacketRow& row) {
    Seen& seen = all_.emplace_back();
    seen.t_ns = row.t_ns;
    seen.packet = static_cast<std::uint32_t>(packet);
    seen.ends = number_of(row);
    seen.is_roce = row.is_roce;
    if (row.key) {
        seen.key = row.key->source_qpn ? Key::Datagram : Key::Connected;
        seen.numbers = {row.key->dest_qpn, row.key->psn, row.key->source_qpn.value_or(0)};
        seen.is_response = row.key->is_response;
        seen.starts_message = row.key->starts_message;
        seen.is_nak = row.key->is_nak;
    } else if (row.cm) {
        seen.key = row.cm->local_qpn ? Key::CmWithQpn : Key::Cm;
        seen.numbers = {row.cm->local_id, row.cm->remote_id, row.cm->local_qpn.value_or(0)};
        seen.cm = row.cm->kind;
    } else if (row.segment) {
        seen.key = Key::Segment;
        seen.numbers = {row.segment->source_port, row.segment->destination_port};
    }
}

PacketRow SeenPackets::row_of(const Seen& seen) const {
    const auto& [a, b, c] = seen.numbers;
    PacketRow row;
    row.t_ns = seen.t_ns;
    row.source = ends_[seen.ends]->first;
    row.destination = ends_[seen.ends]->second;
    row.is_roce = seen.is_roce;
    switch (seen.key) {
        case Key::None:
            break;
        case Key::Connected:
        case Key::Datagram:
            row.key = PacketKey{.destination = row.destination,
                                .dest_qpn = a,
                                .psn = b,
                                .is_response = seen.is_response,
                                .starts_message = seen.starts_message,
                                .is_nak = seen.is_nak,
                                .t_ns = seen.t_ns,
                                .source = row.source};
            if (seen.key == Key::Datagram)
                row.key->source_qpn = c;
            break;
        case Key::Cm:
        case Key::CmWithQpn:
            row.cm = CmKey{row.source, row.destination, a, b, std::nullopt, seen.cm};
            if (seen.key == Key::CmWithQpn)
                row.cm->local_qpn = c;
            break;
        case Key::Segment:
            row.segment = SegmentKey{row.source, row.destination, static_cast<std::uint16_t>(a),
                                     static_cast<std::uint16_t>(b)};
            break;
    }
    return row;
}

}  // namespace timeline
