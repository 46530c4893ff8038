#include "trace/simulate/responder.hpp"

namespace simulate {

void Responder::enter(const Request& request, std::int64_t takes_ns) {
    waiting_.push_back({request, takes_ns});
    if (!is_busy_)
        begin_next();
}

void Responder::begin_next() {
    is_busy_ = !waiting_.empty();
    if (!is_busy_)
        return;
    const Waiting next = waiting_.front();
    waiting_.pop_front();
    events_.after(next.takes_ns, [this, request = next.request] {
        events_.after(execute(request), [this] { begin_next(); });
    });
}

std::int64_t Responder::execute(const Request& request) {
    // Half of all PSNs are before the expected one.
    constexpr std::uint32_t half = 0x800000;
    const Message& message = request.message;
    if (has_failed_)
        return 0;
    if (request.place > expected_ && request.place - expected_ < half) {
        if (!was_nak_sent_ && !was_rnr_sent_)
            user_.answer(expected_, sequence_error, msn_);
        was_nak_sent_ = true;
        return 0;
    }
    if (request.place == expected_) {
        if (!accept(request))
            return 0;
    } else if (!message.wants_data && (request.asks_for_ack || acknowledges_each_copy_)) {
        user_.answer(expected_ - 1, syndromes_.ack, msn_);
    }
    if (!message.wants_data)
        return 0;
    for (std::uint32_t place = request.place; place < message.end(); ++place)
        events_.after(data_spacing_ns * (place - request.place),
                      [this, message, begin = request.place, place, msn = msn_] {
                          user_.send_data(message, begin, place, msn);
                      });
    return data_spacing_ns * (message.end() - request.place);
}

// Returns whether the message goes on.
bool Responder::accept(const Request& request) {
    const Message& message = request.message;
    was_nak_sent_ = was_rnr_sent_ = false;
    if (request.refusal) {
        has_failed_ = true;
        user_.answer(request.place, *request.refusal, msn_);
        return false;
    }
    if (!message.wants_data && request.place == message.first && !user_.is_ready()) {
        was_rnr_sent_ = true;
        user_.answer(request.place, syndromes_.rnr, msn_);
        return false;
    }
    expected_ += message.wants_data ? message.psns : 1;
    msn_ += expected_ == message.end() ? 1 : 0;
    if (!message.wants_data && request.asks_for_ack)
        user_.answer(request.place, syndromes_.ack, msn_);
    return true;
}

}  // namespace simulate
