#include "trace/conformance/frame_matcher.hpp"

#include <algorithm>

#include "util/digest.hpp"

namespace conformance {
namespace {

constexpr std::size_t most_entered = 65'536;
// A changed frame is searched for among this many frames that entered last.
constexpr std::size_t most_recent = 4096;

bool is_altered(std::optional<LinkAction> event) {
    return event == LinkAction::Corrupt || event == LinkAction::Set;
}

}  // namespace

util::Bytes invariant_bytes(const wire::Packet& packet, util::Bytes frame) {
    const wire::Extent bth = packet.trail.find(wire::Header::Bth);
    const wire::Extent icrc = packet.trail.find(wire::Header::Icrc);
    if (bth.empty())
        return {};
    const auto end = icrc.empty() ? static_cast<std::uint32_t>(frame.size()) : icrc.begin;
    return wire::Extent{bth.begin, end}.of(frame);
}

void FrameMatcher::entered(std::uint64_t frame, std::int64_t t_ns, util::Bytes bytes,
                           const std::optional<Place>& place) {
    const Entered made{.frame = frame,
                       .t_ns = t_ns,
                       .digest = util::digest_of(bytes),
                       .size = bytes.size(),
                       .place = place};
    entered_.push_back(made);
    const auto event = event_of(frame);
    if (event != LinkAction::Drop) {
        Waiting& waiting = by_size_[made.size];
        waiting.all.insert(frame);
        if (is_altered(event))
            waiting.changed.insert(frame);
        else
            by_digest_[made.digest].waiting.push_back(frame);
    }
    if (entered_.size() > most_entered)
        forget_oldest();
}

std::optional<FrameMatcher::Origin> FrameMatcher::left(std::int64_t t_ns, util::Bytes bytes) {
    std::uint64_t frame = unchanged(util::digest_of(bytes), t_ns);
    const bool is_changed = frame == 0;
    if (is_changed)
        frame = changed(bytes.size());
    if (frame == 0)
        return std::nullopt;
    const Entered* entered = &entered_as(frame);
    leave(*entered);
    const std::int64_t way_ns = std::max<std::int64_t>(t_ns - entered->t_ns, 1);
    shortest_way_ns_ = shortest_way_ns_ == 0 ? way_ns : std::min(shortest_way_ns_, way_ns);
    if (entered->place) {
        std::uint64_t& newest = newest_left_[entered->place->stream];
        newest = std::max(newest, frame);
    }
    const auto equal = by_digest_.find(entered->digest);
    bool has_twin = false;
    if (equal != by_digest_.end() && !is_altered(event_of(frame))) {
        std::uint64_t& last_left = equal->second.last_left;
        has_twin = last_left > frame;
        last_left = std::max(last_left, frame);
    }
    return Origin{frame, entered->place, is_changed, has_twin};
}

const FrameMatcher::Entered& FrameMatcher::entered_as(std::uint64_t frame) const {
    return *std::ranges::lower_bound(entered_, frame, {}, &Entered::frame);
}

// Returns the frame with these bytes that probably left: of those that have not, or else of those that
// have, the newest.
std::uint64_t FrameMatcher::unchanged(std::uint64_t digest, std::int64_t t_ns) const {
    constexpr std::int64_t usual_ns = 1'000'000, factor = 8;
    const auto found = by_digest_.find(digest);
    if (found == by_digest_.end())
        return 0;
    const Equal& equal = found->second;
    if (equal.waiting.size() < 2)
        return equal.waiting.empty() ? equal.last_left : equal.waiting.back();
    const auto is_on_its_way = [&](std::uint64_t frame) {
        const Entered& one = entered_as(frame);
        if (!one.place || t_ns - one.t_ns > usual_ns + factor * shortest_way_ns_)
            return false;
        const auto newest = newest_left_.find(one.place->stream);
        return newest == newest_left_.end() || newest->second < frame;
    };
    std::uint64_t best = equal.waiting.back();
    for (auto one = equal.waiting.rbegin(); one != equal.waiting.rend() && is_on_its_way(*one);
         ++one)
        best = *one;
    return best;
}

// Returns the newest frame of this size that has not left, preferably one that the log lists as
// changed.
std::uint64_t FrameMatcher::changed(std::size_t size) const {
    const auto waiting = by_size_.find(size);
    if (waiting == by_size_.end())
        return 0;
    const std::size_t older = entered_.size() - std::min(entered_.size(), most_recent);
    for (const auto* frames : {&waiting->second.changed, &waiting->second.all})
        if (!frames->empty() && *frames->rbegin() >= entered_[older].frame)
            return *frames->rbegin();
    return 0;
}

void FrameMatcher::leave(const Entered& entered) {
    const auto same_size = by_size_.find(entered.size);
    if (same_size != by_size_.end()) {
        same_size->second.all.erase(entered.frame);
        same_size->second.changed.erase(entered.frame);
        if (same_size->second.all.empty())
            by_size_.erase(same_size);
    }
    const auto equal = by_digest_.find(entered.digest);
    if (equal == by_digest_.end())
        return;
    auto& waiting = equal->second.waiting;
    const auto found = std::ranges::lower_bound(waiting, entered.frame);
    if (found != waiting.end() && *found == entered.frame)
        waiting.erase(found);
}

void FrameMatcher::forget_oldest() {
    const Entered oldest = entered_.front();
    entered_.pop_front();
    leave(oldest);
    const auto equal = by_digest_.find(oldest.digest);
    if (equal != by_digest_.end() && equal->second.waiting.empty() &&
        equal->second.last_left <= oldest.frame)
        by_digest_.erase(equal);
}

std::optional<LinkAction> FrameMatcher::event_of(std::uint64_t frame) const {
    const auto found = events_.find(frame);
    return found == events_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace conformance
