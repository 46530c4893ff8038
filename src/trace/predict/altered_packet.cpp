#include "trace/predict/altered_packet.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <tuple>

namespace predict {
namespace {

// PSNs farther apart belong to another connection with the same QPN.
constexpr std::int32_t farthest = 1 << 16;

using Indexes = std::vector<std::size_t>;

class Placer {
  public:
    explicit Placer(std::vector<ReliablePacket>& packets) : packets_(packets) {}

    std::optional<Placed> place(const AlteredPacket& taken) {
        const Indexes stream = stream_of(taken);
        if (stream.empty())
            return std::nullopt;
        const std::size_t turn = turns_[{taken.dest_qpn, taken.opcode, taken.psn.value()}]++;
        const ReliablePacket& one = packets_[stream.front()];
        Placed placed{0, one.connection, one.offset + distance(one.psn, taken.psn)};
        const Indexes own = own_places(taken, stream);
        if (taken.passed_capture && !own.empty()) {
            const std::size_t index = choose(own, taken, turn);
            packets_[index].is_lost |= taken.is_missing;
            placed.before = index + 1;
        } else if (const Indexes gaps = gaps_at(taken, stream);
                   taken.is_missing && turn < gaps.size()) {
            placed.before = choose(gaps, taken, turn);
        } else if (!taken.is_missing && !own.empty()) {
            placed.before = choose(own, taken, turn);
        } else {
            placed.before = behind_what_was_before(taken, stream, gaps.empty() ? 0 : gaps.back());
        }
        return placed;
    }

  private:
    // The packets of the same sender in the same direction.
    Indexes stream_of(const AlteredPacket& taken) const {
        const wire::OpcodeInfo* info = wire::find_opcode(taken.opcode);
        Indexes stream;
        for (std::size_t i = 0; i < packets_.size(); ++i) {
            const ReliablePacket& packet = packets_[i];
            if (info != nullptr && packet.connection != ReliablePacket::no_connection &&
                packet.dest_qpn == taken.dest_qpn && packet.is_response() == info->is_response() &&
                std::abs(distance(packet.psn, taken.psn)) < farthest)
                stream.push_back(i);
        }
        return stream;
    }

    Indexes own_places(const AlteredPacket& taken, const Indexes& stream) const {
        Indexes own;
        std::ranges::copy_if(stream, std::back_inserter(own), [&](std::size_t i) {
            return packets_[i].psn == taken.psn && packets_[i].opcode->value == taken.opcode;
        });
        return own;
    }

    // Packets before which the altered packet is missing: the sender skipped its PSN, or went back.
    Indexes gaps_at(const AlteredPacket& taken, const Indexes& stream) const {
        Indexes gaps;
        for (std::size_t i = 0; i < stream.size(); ++i) {
            const wire::Psn psn = packets_[stream[i]].psn;
            if (!psn.is_after(taken.psn))
                continue;
            const bool skips = i == 0 || packets_[stream[i - 1]].psn.is_before(taken.psn);
            const bool went_back =
                i > 0 && psn == taken.psn + 1 && packets_[stream[i - 1]].psn.is_after(taken.psn);
            if (skips || went_back)
                gaps.push_back(stream[i]);
        }
        return gaps;
    }

    // Nothing followed it until it was retransmitted.
    std::size_t behind_what_was_before(const AlteredPacket& taken, const Indexes& stream,
                                       std::size_t begin) const {
        std::size_t place = begin;
        for (const std::size_t i : stream) {
            if (i < begin)
                continue;
            if (packets_[i].psn == taken.psn)
                return place;
            place = i + 1;
        }
        return place;
    }

    std::size_t choose(const Indexes& places, const AlteredPacket& taken, std::size_t turn) const {
        if (!taken.t_ns)
            return places[std::min(turn, places.size() - 1)];
        return *std::ranges::min_element(
            places, {}, [&](std::size_t i) { return std::abs(packets_[i].t_ns - *taken.t_ns); });
    }

    std::vector<ReliablePacket>& packets_;
    std::map<std::tuple<std::uint32_t, std::uint8_t, std::uint32_t>, std::size_t> turns_;
};

}  // namespace

std::vector<std::optional<Placed>> place(const std::vector<AlteredPacket>& taken,
                                         std::vector<ReliablePacket>& packets) {
    Placer placer(packets);
    std::vector<std::optional<Placed>> placed;
    placed.reserve(taken.size());
    for (const AlteredPacket& one : taken)
        placed.push_back(placer.place(one));
    return placed;
}

}  // namespace predict
