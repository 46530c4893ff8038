#include "trace/conformance/recorded_order.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace conformance {
namespace {

// At 100 Gbit/s, some 3,000 packets of 4 KiB pass in a millisecond.
constexpr std::size_t most_held = 4096;
constexpr std::size_t most_of_all_directions = 16'384;

// It was processed, or would have been: its PSN tells where it belongs.
bool has_place(const ObservedPacket& seen) {
    return !seen.is_damaged && !seen.lacks_headers;
}

}  // namespace

RecordedOrder::RecordedOrder(const HalfConnectionFacts& facts, Shared& shared)
    : shared_(shared), path_mtu_(facts.path_mtu), has_begun_(facts.first_psn.has_value()) {
    if (facts.first_psn)
        sequence_ = Sequence(*facts.first_psn);
}

RecordedOrder::Place RecordedOrder::place_of(const ObservedPacket& seen) const {
    const ExtendedPsn begin = sequence_.extend(seen.psn);
    return {begin, begin + seen.psn_count(path_mtu_)};
}

// A sequence NAK has the PSN of a request that did not arrive.
bool RecordedOrder::is_ahead(const ObservedPacket& seen) const {
    if (!has_begun_ || !has_place(seen))
        return false;
    return seen.is_request() ? place_of(seen).begin > sent_
                             : !seen.is_sequence_nak() && place_of(seen).begin >= next_;
}

void RecordedOrder::pass(const ObservedPacket& seen) {
    if (!has_place(seen) || (!has_begun_ && !seen.is_request()))
        return;
    if (!has_begun_) {
        has_begun_ = true;
        sequence_ = Sequence(seen.psn);
    }
    const Place place = place_of(seen);
    if (!seen.is_request()) {
        const bool is_refused = seen.is_sequence_nak() || seen.is_rnr_nak();
        next_ =
            is_refused ? std::min(next_, place.begin) : std::max(next_, std::min(place.end, sent_));
        return;
    }
    // The requests behind a refused one that were sent before its NAK came do not count.
    const bool is_behind_refused = next_ < place.begin && place.begin < sent_;
    if (!is_behind_refused)
        next_ = std::max(next_, place.end);
    sent_ = std::max(sent_, place.end);
    sequence_.move_to(sent_);
}

bool RecordedOrder::fits(const ObservedPacket& seen) {
    if (!held_.packets.empty() || is_ahead(seen))
        return false;
    pass(seen);
    return true;
}

std::vector<ObservedPacket> RecordedOrder::take(const ObservedPacket& seen) {
    const std::vector<ObservedPacket>& held = held_.packets;
    const bool is_repeat = seen.is_request() && has_place(seen) && place_of(seen).begin < next_;
    const bool is_late = !held.empty() && seen.t_ns - held.front().t_ns > longest_ns;
    const bool is_full =
        held.size() == most_held || (shared_.held >= most_of_all_directions && !held.empty());
    if (is_repeat || is_late || is_full) {
        std::vector<ObservedPacket> passing = finish();
        if (fits(seen))
            passing.push_back(seen);
        else
            hold(seen);
        return passing;
    }
    hold(seen);
    // It asks for a request that had arrived late, or not at all.
    if (seen.is_sequence_nak())
        return release();
    // Without a response, a sequence NAK may follow.
    const bool is_answered = held_.last_response >= next_;
    return is_answered && is_complete() ? in_order_of_psns() : std::vector<ObservedPacket>();
}

std::vector<ObservedPacket> RecordedOrder::finish() {
    if (held_.packets.empty())
        return {};
    return is_complete() ? in_order_of_psns() : release();
}

void RecordedOrder::hold(const ObservedPacket& seen) {
    held_.packets.push_back(seen);
    ++shared_.held;
    held_.may_fit &= has_place(seen);
    const Place place = place_of(seen);
    if (seen.is_request()) {
        held_.end = std::max(held_.end, place.end);
        held_.psns += place.end - place.begin;
    } else if (!seen.is_sequence_nak()) {
        held_.last_response = std::max(held_.last_response, place.begin);
    }
}

// Whether the requests are consecutive, and none of the responses is ahead of them.
bool RecordedOrder::is_complete() {
    if (!held_.may_fit || held_.psns != held_.end - next_ || held_.last_response >= held_.end)
        return false;
    std::vector<Place> requests;
    for (const ObservedPacket& one : held_.packets)
        if (one.is_request())
            requests.push_back(place_of(one));
    std::ranges::sort(requests, {}, &Place::begin);
    // As many PSNs, but not consecutive: some overlap.
    held_.may_fit =
        std::ranges::adjacent_find(requests, [](const Place& first, const Place& second) {
            return first.end != second.begin;
        }) == requests.end();
    return held_.may_fit;
}

std::vector<ObservedPacket> RecordedOrder::no_longer_held() {
    shared_.held -= held_.packets.size();
    return std::exchange(held_, {}).packets;
}

// In the recorded order.
std::vector<ObservedPacket> RecordedOrder::release() {
    std::vector<ObservedPacket> released = no_longer_held();
    for (const ObservedPacket& one : released)
        pass(one);
    return released;
}

// A response comes behind the requests that it acknowledges, and behind those that were recorded
// before it.
std::vector<ObservedPacket> RecordedOrder::in_order_of_psns() {
    ++corrections_;
    const std::vector<ObservedPacket> held = no_longer_held();
    const auto begin = [&](const ObservedPacket& one) { return place_of(one).begin; };
    std::vector<ObservedPacket> requests;
    std::ranges::copy_if(held, std::back_inserter(requests), &ObservedPacket::is_request);
    std::ranges::sort(requests, {}, begin);
    std::vector<ObservedPacket> ordered;
    auto next = requests.begin();
    ExtendedPsn until = next_ - 1;
    for (const ObservedPacket& one : held) {
        until = std::max(until, begin(one));
        if (one.is_request())
            continue;
        while (next != requests.end() && begin(*next) <= until)
            ordered.push_back(*next++);
        ordered.push_back(one);
    }
    ordered.insert(ordered.end(), next, requests.end());
    for (const ObservedPacket& one : ordered)
        pass(one);
    return ordered;
}

}  // namespace conformance
