#include "trace/conformance/frame_matcher.hpp"

#include "util/digest.hpp"

namespace conformance {
namespace {

// A changed frame is searched for among this many frames that entered last.
constexpr std::size_t most_recent = 4096;

}  // namespace

util::Bytes invariant_bytes(const wire::Packet& packet, util::Bytes frame) {
    const wire::Extent bth = packet.trail.find(wire::Header::Bth);
    const wire::Extent icrc = packet.trail.find(wire::Header::Icrc);
    if (bth.empty())
        return {};
    const auto end = icrc.empty() ? static_cast<std::uint32_t>(frame.size()) : icrc.begin;
    return wire::Extent{bth.begin, end}.of(frame);
}

void FrameMatcher::entered(std::uint64_t frame, util::Bytes bytes) {
    by_digest_[util::digest_of(bytes)].push_back(frame);
    recent_.push_back({frame, bytes.size()});
    if (recent_.size() > most_recent)
        recent_.pop_front();
}

std::optional<FrameMatcher::Origin> FrameMatcher::left(std::uint64_t frame, util::Bytes bytes) {
    std::optional<Origin> origin;
    if (const auto same = by_digest_.find(util::digest_of(bytes)); same != by_digest_.end()) {
        std::optional<std::uint64_t> waiting;
        std::optional<std::uint64_t> passed;
        for (auto one = same->second.rbegin(); one != same->second.rend() && !waiting; ++one) {
            const auto event = event_of(*one);
            if (event == LinkAction::Drop || event == LinkAction::Corrupt ||
                event == LinkAction::Set)
                continue;
            if (copies(*one).empty())
                waiting = *one;
            else if (!passed)
                passed = *one;
        }
        if (waiting || passed)
            origin = Origin{waiting ? *waiting : *passed, false};
    }
    if (!origin)
        origin = changed(bytes.size());
    if (origin)
        copies_[origin->frame].push_back(frame);
    return origin;
}

// Returns the newest frame of this size that has not left, preferably one that the log lists as
// changed.
std::optional<FrameMatcher::Origin> FrameMatcher::changed(std::size_t size) {
    std::optional<Origin> likely;
    for (auto one = recent_.rbegin(); one != recent_.rend(); ++one) {
        const auto event = event_of(one->frame);
        if (one->size != size || event == LinkAction::Drop || !copies(one->frame).empty())
            continue;
        if (event == LinkAction::Corrupt || event == LinkAction::Set)
            return Origin{one->frame, true};
        if (!likely)
            likely = Origin{one->frame, true};
    }
    return likely;
}

const std::vector<std::uint64_t>& FrameMatcher::copies(std::uint64_t frame) const {
    static const std::vector<std::uint64_t> none;
    const auto found = copies_.find(frame);
    return found == copies_.end() ? none : found->second;
}

std::optional<LinkAction> FrameMatcher::event_of(std::uint64_t frame) const {
    const auto found = events_.find(frame);
    return found == events_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace conformance
