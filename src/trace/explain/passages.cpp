#include "trace/explain/passages.hpp"

#include <algorithm>

namespace explain {
namespace {

// The capture at the receiver must go on for so long after a packet was sent: the packet's way, and the
// error of the two clocks.
constexpr std::int64_t least_span_ns = 10'000'000;
// The same if later packets may still show that it was only late.
constexpr std::int64_t least_span_before_end_ns = 1'000'000'000;

}  // namespace

std::size_t Passages::capture_of(const flow::Host& host) {
    const auto known = std::ranges::find(captures_, host, &Capture::at);
    if (known != captures_.end())
        return static_cast<std::size_t>(known - captures_.begin());
    captures_.push_back({.at = host});
    return captures_.size() - 1;
}

void Passages::captured(const flow::Host& at, std::int64_t t_ns) {
    captures_[capture_of(at)].span.add(t_ns);
}

void Passages::sent(const flow::Seen& seen, std::uint64_t stream, const flow::Host& to) {
    passages_.push_back({.frame = seen.frame,
                         .stream = stream,
                         .sent_ns = seen.t_ns,
                         .to = capture_of(to),
                         .is_request = seen.opcode != nullptr && seen.is_request(),
                         .was_marked = seen.is_marked});
}

std::uint64_t Passages::arrived(const Arrived& here) {
    const std::uint64_t frame = here.sent;
    Passage* one = find(frame);
    if (one == nullptr)
        return 0;
    Fates& stream = fates_[{one->stream, one->is_request}];
    if (one->fate == Passage::Fate::Lost) {
        std::erase(stream.lost, frame);
    } else if (one->fate != Passage::Fate::Unknown) {
        stream.doubled.push_back(frame);
        return one->stream;
    }
    one->arrived_ns = here.t_ns;
    one->arrival = here.arrival;
    one->fate = Passage::Fate::Arrived;
    if (here.is_damaged) {
        one->fate = Passage::Fate::Damaged;
        stream.damaged.push_back(frame);
    } else if (here.is_changed) {
        one->fate = Passage::Fate::Changed;
        stream.changed.push_back(frame);
    } else if (frame < stream.newest_arrived && !here.has_twin) {
        one->fate = Passage::Fate::Overtaken;
        stream.overtaken.push_back(frame);
    }
    stream.newest_arrived = std::max(stream.newest_arrived, frame);
    return one->stream;
}

void Passages::settle(bool is_end) {
    const std::int64_t late_ns = is_end ? least_span_ns : least_span_before_end_ns;
    for (Passage& one : passages_)
        if (one.fate == Passage::Fate::Unknown &&
            (captures_[one.to].span.has(one.sent_ns, late_ns) ||
             everywhere_.has(one.sent_ns, late_ns))) {
            one.fate = Passage::Fate::Lost;
            fates_[{one.stream, one.is_request}].lost.push_back(one.frame);
        }
    for (auto& [key, stream] : fates_)
        for (Frames* frames :
             {&stream.lost, &stream.overtaken, &stream.damaged, &stream.changed, &stream.doubled})
            if (!std::ranges::is_sorted(*frames))
                std::ranges::sort(*frames);
}

void Passages::forget(const std::unordered_set<std::uint64_t>& kept) {
    // A packet that has not arrived within so many frames is not recognised any more.
    constexpr std::uint64_t most_behind = 65'536;
    const std::uint64_t newest = passages_.empty() ? 0 : passages_.back().frame;
    std::erase_if(passages_, [&](const Passage& one) {
        const bool is_decided =
            one.fate != Passage::Fate::Unknown || newest - one.frame > most_behind;
        return is_decided && !kept.contains(one.frame);
    });
}

Passage* Passages::find(std::uint64_t frame) {
    const auto found = std::ranges::lower_bound(passages_, frame, {}, &Passage::frame);
    return found == passages_.end() || found->frame != frame ? nullptr : &*found;
}

const Passage* Passages::of(std::uint64_t frame) const {
    const auto found = std::ranges::lower_bound(passages_, frame, {}, &Passage::frame);
    return found == passages_.end() || found->frame != frame ? nullptr : &*found;
}

Passage::Fate Passages::fate_of(std::uint64_t frame) const {
    const Passage* one = of(frame);
    return one == nullptr ? Passage::Fate::Unknown : one->fate;
}

const Passages::Fates& Passages::fates(std::uint64_t stream, bool of_requests) const {
    static const Fates none;
    const auto found = fates_.find({stream, of_requests});
    return found == fates_.end() ? none : found->second;
}

std::span<const std::uint64_t> Passages::within(const Frames& frames, std::uint64_t begin,
                                                std::uint64_t end) {
    const auto from = std::ranges::lower_bound(frames, begin);
    return {from, std::ranges::lower_bound(from, frames.end(), end)};
}

}  // namespace explain
