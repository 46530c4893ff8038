#include "trace/conformance/requester.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace conformance {
namespace {

flow::NewestPackets::Packet identity_of(const ObservedPacket& request) {
    return {request.psn, request.ip_id, static_cast<std::uint16_t>(request.form)};
}

}  // namespace

std::string_view name(GoBack cause) {
    constexpr std::array<std::string_view, 5> names{"nothing", "NAK", "implied NAK", "RNR NAK",
                                                    "timeout"};
    return names[static_cast<std::size_t>(cause)];
}

Requester::Requester(const HalfConnectionFacts& facts, HalfFindings& findings, Keep keep,
                     const Shared& shared)
    : facts_(facts), findings_(findings), keep_(keep), shared_(shared) {}

Finding& Requester::report(Code code, const ObservedPacket& at, std::string text,
                           std::vector<std::uint64_t> because) {
    return findings_.add({.code = code,
                          .frame = at.frame,
                          .t_ns = at.t_ns,
                          .text = std::move(text),
                          .because = std::move(because)});
}

bool Requester::sent(const ObservedPacket& request) {
    if (!first_psn_)
        begin(request);
    if (is_far(sequence_.extend(request.psn)) && !goes_on_far(request))
        return false;
    const std::uint64_t copied_before = copied_packets_;
    const ExtendedPsn place = sequence_.extend(request.psn);
    if (place >= next_)
        new_request(request, place);
    else if (!sent_.empty() && place >= sent_.front().place)
        again(request, place);
    else
        ++repeated_packets_;  // the capture begins behind it, or it is forgotten
    last_sent_ns_ = request.t_ns;
    return copied_packets_ != copied_before;
}

// A request behind the announced one is no later one whose predecessors the capture lacks.
void Requester::begin(const ObservedPacket& request) {
    first_psn_ = request.psn;
    sequence_ = Sequence(request.psn);
    if (const auto announced = facts_.first_psn; announced && *announced != request.psn)
        report(request.psn.is_before(*announced) ? Code::FirstPsn : Code::PsnSkipped, request,
               fmt::format("the first request has PSN {:#08x}, and the connection manager "
                           "announced {:#08x}",
                           request.psn, *announced));
}

bool Requester::is_far(ExtendedPsn place) const {
    const bool is_old = sent_.empty() || place < sent_.front().place;
    return place > next_ + flow::longest_jump || (is_old && place < next_ - flow::longest_jump);
}

// One request outside the sequence is forged, or was changed on its way. If the next one goes on from there,
// the capture lacks what was in between, or has another connection with the same number.
bool Requester::goes_on_far(const ObservedPacket& request) {
    if (far_ && request.psn != *far_ && !request.psn.is_before(*far_) &&
        !flow::is_far(*far_, request.psn)) {
        restart(request.psn);
        return true;
    }
    repeated_packets_ += std::exchange(far_, request.psn) == request.psn ? 1 : 0;
    report(Code::PsnSkipped, request,
           fmt::format("a new request has PSN {:#08x} instead of {:#08x}", request.psn,
                       sequence_.psn_of(next_)));
    return false;
}

void Requester::restart(wire::Psn first) {
    sequence_ = Sequence(first);
    next_ = cursor_ = acknowledged_ = 0;
    sent_.clear();
    advances_.clear();
    for (auto* asked : {&nak_, &rnr_, &implied_, &earlier_nak_})
        asked->reset();
    ended_ = resends_.size();
    timeouts_in_a_row_ = silent_timeouts_ = 0;
    far_.reset();
}

void Requester::new_request(const ObservedPacket& request, ExtendedPsn place) {
    if (place > next_)
        report(Code::PsnSkipped, request,
               fmt::format("a new request has PSN {:#08x} instead of {:#08x}", request.psn,
                           sequence_.psn_of(next_)));
    else if (cursor_ < next_ && acknowledged_ < next_)
        report(Code::ResendSkips, request,
               fmt::format("a new request with PSN {:#08x}, but {:#08x} to {:#08x} must be "
                           "retransmitted first",
                           request.psn, sequence_.psn_of(cursor_), sequence_.psn_of(next_ - 1)));
    newest_.add(identity_of(request), request.t_ns, true);
    const std::uint32_t psns = request.psn_count(facts_.path_mtu);
    sent_.push_back({.place = place,
                     .psns = psns,
                     .last_ns = request.t_ns,
                     .wants_data = request.wants_data()});
    sent_.back().learn(request);
    next_ = cursor_ = place + psns;
    sequence_.move_to(next_);
    constexpr std::size_t often = 64;  // requests
    if (keep_ != Keep::All && sent_.size() % often == 0)
        forget();
}

// A requester repeats what is not acknowledged. Of the rest, some are kept: a response may be lost.
void Requester::forget() {
    const auto most_acknowledged = static_cast<std::ptrdiff_t>(shared_.window());
    constexpr std::ptrdiff_t most = 16'384;
    const auto open = first_open();
    // Without any response, nothing is known to be open.
    const bool is_answered = !advances_.empty();
    const auto old =
        std::max({(is_answered ? open : sent_.cend()) - sent_.cbegin() - most_acknowledged,
                  std::ssize(sent_) - most, std::ptrdiff_t{0}});
    if (old == 0)
        return;
    sent_.erase(sent_.begin(), sent_.begin() + old);
    acknowledged_ = std::max(acknowledged_, is_answered ? acknowledged_ : sent_.front().place);
    constexpr std::size_t most_resends = 64;
    if (keep_ == Keep::Window && resends_.size() > most_resends)
        forget_resends(resends_.size() - most_resends);
}

void Requester::forget_before(std::uint64_t frame) {
    const auto later = std::ranges::lower_bound(
        resends_, frame, {}, [](const Resend& resend) { return resend.first.frame; });
    const auto older = static_cast<std::size_t>(later - resends_.begin());
    forget_resends(older == resends_.size() && older != 0 ? older - 1 : older);
}

void Requester::forget_resends(std::size_t count) {
    resends_.erase(resends_.begin(), resends_.begin() + static_cast<std::ptrdiff_t>(count));
    ended_ -= std::min(ended_, count);
}

void Requester::again(const ObservedPacket& request, ExtendedPsn place) {
    Sent* original = holder_of(place);
    if (newest_.has_copy_of(identity_of(request), request.t_ns)) {
        ++copied_packets_;
        return;
    }
    newest_.add(identity_of(request), request.t_ns, false);
    const bool goes_on = cursor_ < next_ && place >= cursor_;
    // Packets acknowledged in the meantime may be skipped.
    const bool skips = place > cursor_ && acknowledged_ < place;
    if (!goes_on || (skips && is_asked_for(place)))
        go_back(request, place);
    else if (skips)
        report(Code::ResendSkips, request,
               fmt::format("PSN {:#08x} retransmitted without {:#08x} to {:#08x} before it",
                           request.psn, sequence_.psn_of(cursor_), sequence_.psn_of(place - 1)));
    Resend& resend = resends_.back();
    ++resend.packets;
    ++repeated_packets_;
    cursor_ = place + request.psn_count(facts_.path_mtu);
    resend.last_psn = sequence_.psn_of(cursor_ - 1);
    compare(request, place);
    if (original != nullptr)
        original->last_ns = request.t_ns;
}

// Returns the first request that is not acknowledged to its end.
std::vector<Requester::Sent>::const_iterator Requester::first_open() const {
    return std::ranges::upper_bound(
        sent_, acknowledged_, {}, [](const Sent& request) { return request.place + request.psns; });
}

Requester::Sent* Requester::holder_of(ExtendedPsn place) {
    auto behind = std::ranges::upper_bound(sent_, place, {}, &Sent::place);
    if (behind == sent_.begin())
        return nullptr;
    Sent& found = *--behind;
    return place < found.place + found.psns ? &found : nullptr;
}

void Requester::arrived(const ObservedPacket& response) {
    if (response.is_damaged || !first_psn_)
        return;
    silent_timeouts_ = 0;
    const ExtendedPsn place = sequence_.extend(response.psn);
    if (place >= next_ || response.is_fatal_nak())
        return;  // an invalid PSN, or the end of the queue pair
    if (response.is_data()) {
        if (place > acknowledged_)
            acknowledge(place, response);
        if (place == acknowledged_)
            advance(place + 1, response);
        return;
    }
    if (response.is_ack()) {
        acknowledge(place + 1, response);
        return;
    }
    const bool is_sequence = response.is_sequence_nak();
    if (is_sequence && place > acknowledged_)
        ++naks_that_acknowledged_;
    acknowledge(place, response);
    // A late NAK: its packet has been acknowledged since.
    if (place < acknowledged_)
        return;
    const Sent* asked_for = holder_of(place);
    const bool is_fresh = asked_for != nullptr && response.t_ns - asked_for->last_ns < lag_ns;
    const bool was_repeated = !resends_.empty() && is_fresh &&
                              sequence_.extend(resends_.back().first.psn) <= place &&
                              response.t_ns - resends_.back().first.t_ns < lag_ns;
    if (is_sequence && nak_ && nak_->place != place)
        earlier_nak_ = std::exchange(nak_, std::nullopt);
    ask(is_sequence ? nak_ : rnr_, {place, response, was_repeated});
}

void Requester::ask(std::optional<Asked>& asked, const Asked& now) {
    if (asked && asked->place == now.place)
        ++asked->copies;
    else
        asked = now;
}

// Acknowledges all requests before `next`, up to the first that requires data: a response to a
// later request implies that the data was lost. PSNs that were left out have no request.
void Requester::acknowledge(ExtendedPsn next, const ObservedPacket& response) {
    for (auto request = first_open(); request != sent_.end() && request->place < next; ++request) {
        if (!request->wants_data)
            continue;
        const ExtendedPsn missing = std::max(acknowledged_, request->place);
        advance(missing, response);
        ask(implied_, {missing, response, false});
        return;
    }
    advance(next, response);
}

void Requester::advance(ExtendedPsn next, const ObservedPacket& response) {
    if (next <= acknowledged_)
        return;
    acknowledged_ = next;
    timeouts_in_a_row_ = 0;
    // A capture's times may step back a little.
    const std::int64_t earliest = advances_.empty() ? response.t_ns : advances_.back().t_ns;
    advances_.push_back({next, std::max(earliest, response.t_ns)});
    while (advances_.size() > 1 && advances_[1].t_ns < response.t_ns - 2 * lag_ns)
        advances_.pop_front();
    while (ended_ < resends_.size() && sequence_.extend(resends_[ended_].last_psn) < acknowledged_)
        resends_[ended_++].ended_by = response;
}

ExtendedPsn Requester::acknowledged_at(std::int64_t t_ns) const {
    const auto behind = std::ranges::upper_bound(advances_, t_ns, {}, &Advance::t_ns);
    return behind == advances_.begin() ? 0 : std::prev(behind)->acknowledged;
}

void Requester::finish(std::int64_t end_ns) {
    if (timeouts_in_a_row_ == 0 || acknowledged_ >= next_)
        return;
    const std::int64_t since = end_ns - last_sent_ns_;
    const bool was_last = facts_.retry.retry_count == timeouts_in_a_row_;
    if (was_last || since > 2 * resends_.back().silence_ns)
        gave_up_after_ = timeouts_in_a_row_;
}

}  // namespace conformance
