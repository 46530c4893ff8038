#include "trace/simulate/traffic.hpp"

#include <algorithm>
#include <utility>

#include "trace/predict/connections.hpp"

namespace simulate {
namespace {

void add(Traffic& traffic, const predict::ReliablePacket& packet, Sample sample) {
    if (packet.offset < 0)
        return;
    const auto place = static_cast<std::uint32_t>(packet.offset);
    if (packet.is_fatal_nak())
        traffic.refusals.try_emplace(place, packet.aeth.syndrome);
    if (packet.is_response() && traffic.acknowledgement.empty())
        traffic.acknowledgement.emplace_back(sample.bytes);
    if (!packet.is_response())
        traffic.requests.try_emplace(place, std::move(sample));
    else if (packet.is_data())
        traffic.data.try_emplace(place, std::move(sample));
}

// Returns the messages up to the first packet that is not there. `times`: by place.
void find_messages(Traffic& traffic, const std::map<std::uint32_t, std::int64_t>& times) {
    std::uint32_t place = 0;
    std::uint32_t first = 0;
    for (auto at = traffic.requests.begin(); at != traffic.requests.end();
         at = traffic.requests.find(place)) {
        const wire::Packet& packet = at->second.packet;
        const flow::Seen seen = flow::Seen::of(0, 0, packet);
        place += seen.psn_count(traffic.path_mtu);
        const std::int64_t posted = std::max(
            times.at(first), traffic.messages.empty() ? 0 : traffic.messages.back().posted_ns);
        if (!packet.opcode->ends_message())
            continue;
        traffic.messages.push_back({{first, place - first, seen.wants_data()}, posted});
        first = place;
    }
    traffic.is_cut = !traffic.requests.empty() && traffic.requests.rbegin()->first >= first;
}

}  // namespace

Sample::Sample(std::vector<std::byte> frame)
    : bytes(std::move(frame)), packet(wire::decode(bytes, wire::LinkType::Ethernet)) {}

void TrafficReader::begin(const timeline::FinishedRun& run) {
    for (const flow::KnownQueuePair& pair : run.known_pairs())
        tracker_.know(pair);
}

void TrafficReader::packet(const timeline::PacketRow& row, const wire::Packet& packet,
                           const capture::Frame& frame) {
    const std::uint64_t stream =
        tracker_.add(std::chrono::nanoseconds(row.t_ns), packet, frame.original_length);
    auto one = predict::packet_of(frame.number, row.t_ns, packet, row.source, row.destination);
    if (!one || one->is_damaged || !packet.is_complete() || packet.outer ||
        frame.link_type != wire::LinkType::Ethernet || packets_.size() == most_packets ||
        bytes_ + frame.bytes.size() > most_bytes)
        return;
    one->stream = stream;
    bytes_ += frame.bytes.size();
    packets_.push_back(*std::move(one));
    frames_.emplace_back(frame.bytes.begin(), frame.bytes.end());
}

std::vector<Traffic> TrafficReader::take() {
    tracker_.finish();
    std::vector<Traffic> all;
    for (const predict::Connection& connection : predict::connect(packets_, tracker_)) {
        Traffic& traffic = all.emplace_back();
        traffic.requester = connection.requester;
        traffic.responder = connection.responder;
        traffic.first_psn = connection.first_psn;
        traffic.path_mtu = connection.path_mtu;
    }
    std::vector<std::map<std::uint32_t, std::int64_t>> times(all.size());
    for (std::size_t i = 0; i < packets_.size(); ++i) {
        const predict::ReliablePacket& packet = packets_[i];
        if (packet.connection == predict::ReliablePacket::no_connection)
            continue;
        add(all[packet.connection], packet, Sample(std::move(frames_[i])));
        if (!packet.is_response() && packet.offset >= 0)
            times[packet.connection].try_emplace(static_cast<std::uint32_t>(packet.offset),
                                                 packet.t_ns - packets_.front().t_ns);
    }
    for (std::size_t i = 0; i < all.size(); ++i)
        find_messages(all[i], times[i]);
    std::erase_if(all, [](const Traffic& traffic) {
        return traffic.messages.empty() || traffic.acknowledgement.empty();
    });
    return all;
}

}  // namespace simulate
