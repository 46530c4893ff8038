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

void FrameMatcher::entered(std::uint64_t frame, util::Bytes bytes,
                           const std::optional<Place>& place) {
    const Entered made{
        .frame = frame, .digest = util::digest_of(bytes), .size = bytes.size(), .place = place};
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

std::optional<FrameMatcher::Origin> FrameMatcher::left(util::Bytes bytes) {
    std::uint64_t frame = unchanged(util::digest_of(bytes));
    const bool is_changed = frame == 0;
    if (is_changed)
        frame = changed(bytes.size());
    if (frame == 0)
        return std::nullopt;
    const auto entered = std::ranges::lower_bound(entered_, frame, {}, &Entered::frame);
    leave(*entered);
    const auto equal = by_digest_.find(entered->digest);
    if (equal != by_digest_.end() && !is_altered(event_of(frame)))
        equal->second.last_left = std::max(equal->second.last_left, frame);
    return Origin{entered->place, is_changed};
}

// Returns the newest frame with these bytes that has not left, or else the newest one that has.
std::uint64_t FrameMatcher::unchanged(std::uint64_t digest) const {
    const auto found = by_digest_.find(digest);
    if (found == by_digest_.end())
        return 0;
    const Equal& equal = found->second;
    return equal.waiting.empty() ? equal.last_left : equal.waiting.back();
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
