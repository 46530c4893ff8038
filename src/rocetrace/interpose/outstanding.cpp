#include "rocetrace/interpose/outstanding.hpp"

#include <algorithm>
#include <bit>

#include "rocetrace/interpose/arena.hpp"

namespace interpose {

bool Outstanding::make_room(std::uint32_t depth) {
    constexpr std::uint32_t deepest = 1U << 20U;
    const std::uint32_t room = std::bit_ceil(std::clamp(depth, 1U, deepest));
    entries_ = static_cast<Request*>(take_memory(room * sizeof(Request)));
    mask_ = room - 1;
    return entries_ != nullptr;
}

void Outstanding::free_room() {
    give_memory(entries_, (std::size_t{mask_} + 1) * sizeof(Request));
    entries_ = nullptr;
}

bool Outstanding::grow() {
    Outstanding larger;
    if (mask_ + 1 >= most || !larger.make_room(2 * (mask_ + 1)))
        return false;
    for (std::uint32_t i = tail_; i != head_ + staged_; ++i)
        larger.at(i) = at(i);
    free_room();
    entries_ = larger.entries_;
    mask_ = larger.mask_;
    return true;
}

std::uint32_t Outstanding::stage(std::uint64_t wr_id, bool is_signaled) {
    const std::uint32_t number = head_ + staged_;
    if (number - tail_ > mask_)
        grow();  // or it overwrites the oldest one, which settle() removes
    at(number) = {wr_id, is_signaled, false};
    ++staged_;
    return number;
}

void Outstanding::settle(bool accepted) {
    const std::uint32_t end = head_ + staged_;
    if (accepted) {
        head_ = end;
        count_ += staged_;
    }
    staged_ = 0;
    while (tail_ != head_ && end - tail_ > mask_ + 1)
        forget_first();
}

void Outstanding::forget_first() {
    if (!at(tail_).is_done) {
        --count_;
        ++forgotten_;
    }
    if (next_ == tail_)
        ++next_;
    ++tail_;
}

void Outstanding::finish(Request& request) {
    request.is_done = true;
    --count_;
}

// A queue's completions are in the order of its requests, and one completes all unsignaled requests
// before it (IBTA volume 1, 10.8.3.3). After an error, unsignaled requests have completions, too.
std::int64_t Outstanding::complete(std::uint64_t wr_id, bool succeeded) {
    std::uint32_t overtaken = 0;
    for (std::uint32_t i = tail_; i != head_; ++i) {
        Request& request = at(i);
        if (request.is_done)
            continue;
        if (request.wr_id != wr_id || (succeeded && !request.is_signaled)) {
            if (request.is_signaled && ++overtaken > most_overtaken)
                break;
            continue;
        }
        finish(request);
        for (; next_ - tail_ <= i - tail_; ++next_)
            if (Request& earlier = at(next_); !earlier.is_done && !earlier.is_signaled)
                finish(earlier);
        while (tail_ != next_ && (at(tail_).is_done || next_ - tail_ > most_overtaken))
            if (at(tail_).is_done)
                ++tail_;
            else
                forget_first();
        return i;
    }
    return -1;
}

}  // namespace interpose
