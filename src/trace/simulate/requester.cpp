#include "trace/simulate/requester.hpp"

#include <algorithm>

namespace simulate {

void Requester::post(const Message& message) {
    messages_.push_back(message);
    pump();
}

const Message& Requester::message_of(std::uint32_t place) const {
    return *std::prev(std::ranges::upper_bound(messages_, place, {}, &Message::first));
}

void Requester::pump() {
    if (is_pumping_)
        return;
    is_pumping_ = true;
    events_.after(is_.spacing_ns, [this] { send_next(); });
}

void Requester::send_next() {
    is_pumping_ = false;
    if (has_failed_ || events_.now() < not_before_ || cursor_ >= messages_.back().end())
        return;
    const Message message = message_of(cursor_);
    const std::uint32_t place = cursor_;
    cursor_ = message.wants_data ? message.end() : cursor_ + 1;
    sent_ = std::max(sent_, cursor_);
    if (!timer_)
        start_timer();
    user_.send(message, place);
    pump();
}

void Requester::start_timer() {
    if (is_.timeout == 0)
        return;
    const std::uint64_t timer = ++timers_;
    timer_ = timer;
    events_.after(std::int64_t{4096} << is_.timeout, [this, timer] {
        if (timer_ == timer)
            expire();
    });
}

void Requester::expire() {
    timer_.reset();
    if (unacknowledged_ == sent_ || has_failed_)
        return;
    user_.timed_out();
    if (retries_++ == is_.retry_cnt) {
        fail();
        return;
    }
    cursor_ = unacknowledged_;
    start_timer();
    pump();
}

void Requester::fail() {
    has_failed_ = true;
    user_.failed(completed_);
}

void Requester::go_back() {
    if (gone_back_for_ == unacknowledged_)
        return;
    gone_back_for_ = unacknowledged_;
    cursor_ = unacknowledged_;
    start_timer();
    pump();
}

void Requester::progress() {
    retries_ = 0;
    gone_back_for_.reset();
    while (completed_ < messages_.size() && messages_[completed_].end() <= unacknowledged_)
        user_.completed(completed_++);
    cursor_ = std::max(cursor_, unacknowledged_);
    if (unacknowledged_ < sent_)
        start_timer();
    else if (!is_.has_running_timer)
        timer_.reset();
    pump();
}

void Requester::hear(std::uint32_t place, Response response, std::int64_t rnr_ns) {
    const std::uint32_t to = response == Response::Ack ? place + 1 : place;
    if (has_failed_ || place >= sent_ || to < unacknowledged_)
        return;
    const std::uint32_t before = unacknowledged_;
    while (unacknowledged_ < to && !message_of(unacknowledged_).wants_data)
        ++unacknowledged_;
    const bool are_data_missing = unacknowledged_ < to;
    if (response == Response::Data && !are_data_missing && place == unacknowledged_)
        ++unacknowledged_;
    if (unacknowledged_ != before)
        progress();
    if (are_data_missing || response == Response::SequenceNak) {
        go_back();
    } else if (response == Response::RnrNak) {
        not_before_ = events_.now() + rnr_ns;
        cursor_ = unacknowledged_;
        start_timer();
        events_.after(rnr_ns, [this] { pump(); });
    } else if (response == Response::FatalNak) {
        fail();
    }
}

}  // namespace simulate
