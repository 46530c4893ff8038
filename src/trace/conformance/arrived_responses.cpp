#include "trace/conformance/arrived_responses.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace conformance {

FirstAbove::FirstAbove(const std::vector<std::int64_t>& values)
    : leaves_(std::bit_ceil(std::max<std::size_t>(values.size(), 1))),
      highest_(2 * leaves_, std::numeric_limits<std::int64_t>::min()) {
    std::ranges::copy(values, highest_.begin() + static_cast<std::ptrdiff_t>(leaves_));
    for (std::size_t node = leaves_ - 1; node > 0; --node)
        highest_[node] = std::max(highest_[2 * node], highest_[2 * node + 1]);
}

std::size_t FirstAbove::find(std::size_t from, std::int64_t limit) const {
    if (from >= leaves_)
        return SIZE_MAX;
    // Go on to the right until a subtree has such a value, then down to its first one.
    std::size_t node = leaves_ + from;
    while (highest_[node] <= limit) {
        while (node % 2 == 1)
            node /= 2;
        if (node == 0)
            return SIZE_MAX;
        ++node;
    }
    while (node < leaves_) {
        node *= 2;
        node += highest_[node] <= limit ? 1 : 0;
    }
    return node - leaves_;
}

ArrivedResponses::ArrivedResponses(const std::deque<Step>& steps) : acknowledged_({}), psns_({}) {
    for (const Step& step : steps) {
        const ObservedPacket& seen = step.seen;
        if (step.kind != StepKind::ResponseArrived || seen.is_damaged)
            continue;
        if (seen.is_data())
            data_[seen.psn.value()].push_back(all_.size());
        const wire::Psn end = seen.acknowledged_end();
        const wire::ExtendedPsn before = all_.empty() ? end.value() : highest_.back();
        if (all_.empty())
            highest_.push_back(before);
        all_.push_back(&seen);
        highest_.push_back(std::max(before, wire::extend(end, before)));
    }
    acknowledged_ = index(true);
    psns_ = index(false);
}

FirstAbove ArrivedResponses::index(bool acknowledged) const {
    std::vector<std::int64_t> values;
    values.reserve(all_.size());
    for (std::size_t i = 0; i < all_.size(); ++i)
        values.push_back(extended(acknowledged ? all_[i]->acknowledged_end() : all_[i]->psn, i));
    return FirstAbove(values);
}

// Of a PSN at this place.
wire::ExtendedPsn ArrivedResponses::extended(wire::Psn psn, std::size_t place) const {
    return highest_.empty() ? psn.value() : wire::extend(psn, highest_[place]);
}

std::size_t ArrivedResponses::place_of(std::uint64_t frame) const {
    return static_cast<std::size_t>(
        std::ranges::lower_bound(all_, frame, {}, &ObservedPacket::frame) - all_.begin());
}

const ArrivedResponses::Places& ArrivedResponses::data_with(wire::Psn psn) const {
    static const Places none;
    const auto found = data_.find(psn.value());
    return found == data_.end() ? none : found->second;
}

const ObservedPacket* ArrivedResponses::until(std::size_t place, std::uint64_t frame) const {
    return place < all_.size() && all_[place]->frame <= frame ? all_[place] : nullptr;
}

bool ArrivedResponses::made_unnecessary(const ObservedPacket& sent) const {
    const std::size_t here = place_of(sent.frame);
    if (sent.is_data()) {
        const Places& data = data_with(sent.psn);
        return !data.empty() && data.front() < here;
    }
    return here > 0 && extended(sent.psn, here) < highest_[here];
}

const ObservedPacket* ArrivedResponses::substitute(const ObservedPacket& sent,
                                                   std::uint64_t until_frame) const {
    const std::size_t here = place_of(sent.frame);
    if (!sent.is_data())
        return until(acknowledged_.find(here, extended(sent.psn, here)), until_frame);
    const Places& data = data_with(sent.psn);
    const auto next = std::ranges::lower_bound(data, here);
    return next == data.end() ? nullptr : until(*next, until_frame);
}

bool ArrivedResponses::go_past(const ObservedPacket& sent, std::uint64_t until_frame) const {
    const std::size_t here = place_of(sent.frame);
    return until(psns_.find(here, extended(sent.psn, here)), until_frame) != nullptr;
}

const ObservedPacket* ArrivedResponses::at(std::uint64_t frame) const {
    const std::size_t place = place_of(frame);
    return place < all_.size() && all_[place]->frame == frame ? all_[place] : nullptr;
}

}  // namespace conformance
