// Causes of retransmissions, and comparison with the original requests.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "trace/conformance/requester.hpp"

namespace conformance {
namespace {

// Minimum for an unknown timer (4.096 us * 2^n): shorter ones are not in use.
constexpr std::int64_t least_timeout_ns = 1'000'000;
// A timer of Linux may expire one tick early, because its time is rounded to ticks; HZ is 100 or more.
constexpr std::int64_t tick_ns = 10'000'000;
// Clocks of the requester and of the capture may differ so much.
constexpr double clock_share = 1e-3;

double milliseconds(std::int64_t ns) {
    return static_cast<double>(ns) / 1e6;
}

}  // namespace

bool Requester::is_asked_for(ExtendedPsn place) const {
    return (nak_ && nak_->place == place) || (rnr_ && rnr_->place == place) ||
           (implied_ && implied_->place == place);
}

// Drops responses that asked for a packet acknowledged some time ago.
void Requester::drop_stale(std::int64_t now_ns) {
    for (auto* asked : {&nak_, &rnr_, &implied_})
        if (*asked && (*asked)->place < acknowledged_ && now_ns - (*asked)->response.t_ns > lag_ns)
            asked->reset();
}

void Requester::go_back(const ObservedPacket& request, ExtendedPsn place) {
    Resend resend;
    resend.first = request;
    resend.silence_ns = request.t_ns - last_sent_ns_;
    resend.cause = asked_back(request, place, resend);
    if (resend.cause == GoBack::None)
        resend.cause = without_asking(request, place);
    timeouts_in_a_row_ = resend.cause == GoBack::Timeout ? timeouts_in_a_row_ + 1 : 0;
    if (resend.cause == GoBack::Timeout)
        count_timeout(request, place);
    retries_ += resend.cause == GoBack::RnrNak ? 0 : 1;
    resends_.push_back(resend);
}

// Looks for the response that asked for this packet. One that asked for an earlier packet also fits
// if the packets in between have been acknowledged since.
GoBack Requester::asked_back(const ObservedPacket& request, ExtendedPsn place, Resend& resend) {
    drop_stale(request.t_ns);
    const auto fits = [&](const std::optional<Asked>& asked) {
        return asked && place >= asked->place && place <= std::max(acknowledged_, asked->place);
    };
    const auto take = [&](std::optional<Asked>& asked, GoBack cause) {
        resend.asked_by = asked->response;
        asked->may_be_late = true;
        if (--asked->copies == 0)
            asked.reset();
        return cause;
    };
    // A later NAK is a response to the request that was retransmitted in the meantime.
    const auto is_later = [&](const std::optional<Asked>& asked) {
        return fits(asked) && asked->response.frame > rnr_->response.frame;
    };
    if (fits(rnr_) && (is_later(nak_) || is_later(implied_)))
        rnr_.reset();
    if (fits(rnr_)) {
        const double waited = milliseconds(request.t_ns - rnr_->response.t_ns);
        const double timer = rnr_->response.aeth.rnr_timer_ms().value_or(0);
        if (waited + milliseconds(shared_.time_error_ns()) < timer * (1 - clock_share))
            report(Code::RnrEarly, request,
                   fmt::format(
                       "PSN {:#08x} retransmitted {:.3f} ms after an RNR NAK that asks for {} ms",
                       request.psn, waited, timer),
                   {rnr_->response.frame});
        return take(rnr_, GoBack::RnrNak);
    }
    const auto waited = [&](const Asked& asked) { return request.t_ns - asked.response.t_ns; };
    // The requester may have gone back before the newer NAK arrived, and left out what had been
    // acknowledged until then.
    const auto fits_earlier = [&] {
        return place == earlier_nak_->place ||
               (place > earlier_nak_->place && place <= nak_->place &&
                place <= acknowledged_at(nak_->response.t_ns - 1));
    };
    if (earlier_nak_ && nak_ && waited(*nak_) < lag_ns && fits_earlier()) {
        nak_->may_be_late = true;
        return take(earlier_nak_, GoBack::Nak);
    }
    if (fits(nak_)) {
        if (waited(*nak_) < facts_.retry.ack_timeout_ns.value_or(INT64_MAX))
            return take(nak_, GoBack::Nak);
        if (!nak_->may_be_late)
            report(Code::NakIgnored, request,
                   fmt::format("PSN {:#08x} retransmitted only after {:.1f} ms, by the timer, "
                               "although a NAK had asked for it",
                               request.psn, milliseconds(waited(*nak_))),
                   {nak_->response.frame});
        nak_.reset();
        return GoBack::Timeout;
    }
    if (fits(implied_)) {
        const bool is_timer = waited(*implied_) >= facts_.retry.ack_timeout_ns.value_or(lag_ns);
        const GoBack cause = take(implied_, is_timer ? GoBack::Timeout : GoBack::ImpliedNak);
        if (is_timer)
            resend.asked_by.reset();
        return cause;
    }
    // The timer of a READ before it may run since an earlier packet.
    const bool may_be_timer = nak_ && place == acknowledged_ && facts_.retry.ack_timeout_ns &&
                              waited(*nak_) >= *facts_.retry.ack_timeout_ns / 2;
    if (nak_ && nak_->place >= acknowledged_ && !may_be_timer &&
        waited(*nak_) < facts_.retry.ack_timeout_ns.value_or(lag_ns)) {
        report(Code::ResendFrom, request,
               fmt::format("retransmitted from PSN {:#08x} on, but the NAK asks for PSN {:#08x}",
                           request.psn, nak_->response.psn),
               {nak_->response.frame});
        return take(nak_, GoBack::Nak);
    }
    return GoBack::None;
}

// A requester without any response ends its queue pair after retry_cnt retransmissions. Another host may
// have sent a packet with other contents.
void Requester::count_timeout(const ObservedPacket& request, ExtendedPsn place) {
    constexpr std::uint32_t without_limit = 7;  // of Soft-RoCE
    ++timeouts_;
    const Sent* original = holder_of(place);
    if (original == nullptr || original->form != request.form)
        return;
    // What a timer sends again may be several resends.
    const std::int64_t timeout = facts_.retry.ack_timeout_ns.value_or(least_timeout_ns);
    if (request.t_ns - std::exchange(last_timeout_ns_, request.t_ns) < timeout / 4 * 3)
        return;
    ++silent_timeouts_;
    const std::uint32_t most = facts_.retry.retry_count.value_or(without_limit);
    if (most != without_limit && silent_timeouts_ == std::uint64_t{most} + 1)
        report(
            Code::RetriesExceeded, request,
            fmt::format("PSN {:#08x} retransmitted by the timer {} times without a response, and "
                        "retry_cnt is {}",
                        request.psn, silent_timeouts_, most));
}

// Without a response, the timer is the cause: it starts with the oldest unacknowledged packet.
GoBack Requester::without_asking(const ObservedPacket& request, ExtendedPsn place) {
    if (place < acknowledged_at(request.t_ns - lag_ns)) {
        report(Code::ResendWithoutCause, request,
               fmt::format(
                   "PSN {:#08x} retransmitted, although all up to PSN {:#08x} was acknowledged",
                   request.psn, sequence_.psn_of(acknowledged_ - 1)));
        return GoBack::None;
    }
    const Sent* original = holder_of(place);
    const std::int64_t waited = original == nullptr ? 0 : request.t_ns - original->last_ns;
    const double waited_ms = milliseconds(waited);
    const std::int64_t error = shared_.time_error_ns();
    if (!facts_.retry.ack_timeout_ns && waited + error < least_timeout_ns) {
        report(Code::ResendWithoutCause, request,
               fmt::format("PSN {:#08x} retransmitted after {:.3f} ms, and neither a NAK nor a "
                           "timeout can be the cause",
                           request.psn, waited_ms));
        return GoBack::None;
    }
    if (place > acknowledged_) {
        report(Code::ResendFrom, request,
               fmt::format("retransmitted from PSN {:#08x} on, but PSN {:#08x} is the oldest that "
                           "is not acknowledged",
                           request.psn, sequence_.psn_of(acknowledged_)));
        return GoBack::Timeout;
    }
    // The device starts its timer some time before the link emulator sees the packet.
    if (facts_.retry.ack_timeout_ns && waited + error < *facts_.retry.ack_timeout_ns / 4 * 3 &&
        waited < *facts_.retry.ack_timeout_ns - tick_ns)
        report(
            Code::TimeoutEarly, request,
            fmt::format(
                "PSN {:#08x} retransmitted without a NAK after {:.3f} ms; its timer is {:.1f} ms",
                request.psn, waited_ms, milliseconds(*facts_.retry.ack_timeout_ns)));
    return GoBack::Timeout;
}

// If a READ is retransmitted for the rest of its response, address and length continue there.
void Requester::compare(const ObservedPacket& request, ExtendedPsn place) {
    Sent* original = holder_of(place);
    if (original == nullptr)
        return;
    const bool is_read = request.is(wire::Operation::RdmaReadRequest);
    const auto skipped = static_cast<std::uint64_t>(place - original->place);
    // Only one of them has a wrong ICRC: the path changed it.
    if (original->has_wrong_icrc != request.has_wrong_icrc) {
        if (original->has_wrong_icrc && skipped == 0)
            original->learn(request);
        return;
    }
    if (is_read && skipped != 0) {
        const std::uint64_t bytes = skipped * facts_.path_mtu;
        if (request.va == original->va + bytes && request.rkey == original->rkey &&
            request.dmalen + bytes == original->dmalen)
            return;
    } else if (skipped == 0 && request.digest == original->digest) {
        return;
    }
    if (request.form == 0 || original->form == 0)
        return;
    // A retransmitted SEND reads its buffer again.
    const bool is_payload = skipped == 0 && request.form == original->form;
    if (is_payload && (request.is_cut || original->is_cut))
        return;  // the capture may have another part of the same payload
    report(Code::ResendDiffers, request,
           is_payload
               ? fmt::format("PSN {:#08x} retransmitted with another payload: its buffer was "
                             "written before the request completed",
                             request.psn)
               : fmt::format("PSN {:#08x} retransmitted with other contents than the first time",
                             request.psn),
           {original->frame})
        .is_programs = is_payload;
}

}  // namespace conformance
