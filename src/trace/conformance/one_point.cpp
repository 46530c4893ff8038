// A capture at one point: the models take each packet as it comes.
#include "trace/conformance/checker.hpp"

namespace conformance {
namespace {

constexpr std::size_t least_backlog = 64;  // packets
constexpr std::size_t most_backlog = 4096;
constexpr std::size_t most_backlogs = 65'536;  // of all directions

}  // namespace

void Checker::add_at_one_point(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet,
                               std::uint64_t number, IcrcTrust trust) {
    // Of frames that are not in order of time, the order of the packets is unknown, as of missing ones.
    if (t_ns < report_.end_ns)
        packets_may_be_missing();
    may_lack_packets_ = true;
    begin(t_ns);
    const auto key = flow::StreamKey::of(packet);
    if (!key)
        return;
    ObservedPacket seen = observe(frame, t_ns, packet, trust);
    const bool damaged = is_damaged(packet, trust);
    for (const auto side : {LinkSide::Ingress, LinkSide::Egress})
        count(side, *key, packet, damaged);
    if (seen.opcode == nullptr) {
        ++report_.not_judged;
        return;
    }
    const std::size_t index = stream_of(number, *key);
    HalfStream& stream = streams_[index];
    if (stream.first_frame == 0)
        stream.first_frame = frame;
    seen.fate = damaged ? Fate::Corrupted : Fate::Passed;
    if (stream.half) {
        feed(stream, LinkSide::Ingress, seen);
    } else {
        stream.seen.emplace_back(LinkSide::Ingress, seen);
        ++backlogs_;
    }
    ++stream.packets;
    if (!stream.peer && stream.packets % least_backlog == 0)
        look_for_peer(index);
}

// Begins with the models of both directions if the tracker has paired them and knows the path MTU.
// The backlog of a direction without a peer has a limit.
void Checker::look_for_peer(std::size_t index) {
    const HalfStream& stream = streams_[index];
    const auto facts = tracker_.facts_of(stream.key);
    const auto peer = facts ? by_number_.find(facts->peer) : by_number_.end();
    const bool is_full = stream.seen.size() >= most_backlog || backlogs_ >= most_backlogs;
    if (peer != by_number_.end() && (facts->path_mtu != 0 || is_full || stream.half)) {
        HalfStream& other = streams_[peer->second];
        streams_[index].peer = peer->second;
        other.peer = index;
        run(index);
    } else if (is_full) {
        run(index);
    }
}

// Starts the models of a stream and of its peer, and gives them the packets so far.
void Checker::run(std::size_t index) {
    HalfStream& stream = streams_[index];
    HalfStream* peer = stream.peer ? &streams_[*stream.peer] : nullptr;
    backlogs_ -= stream.seen.size() + (peer == nullptr ? 0 : peer->seen.size());
    start(stream, Keep::Window);
    if (peer != nullptr)
        start(*peer, Keep::Window);
    feed(stream, peer, UINT64_MAX);
}

}  // namespace conformance
