#include "trace/flow/outstanding.hpp"

namespace flow {

bool OutstandingRequest::is_covered_by(wire::Psn acked) const {
    const std::uint32_t more = is_read() && read_psns != unknown_psns ? read_psns - 1 : 0;
    return distance(psn + more, acked) >= 0;
}

bool OutstandingRequest::is_answered_by(wire::Psn response) const {
    const std::int32_t behind = distance(psn, response);
    return is_read() && behind >= 0 && static_cast<std::uint32_t>(behind) < read_psns;
}

bool Outstanding::push(const OutstandingRequest& request, bool is_answered, Pages& pages) {
    if (end_ == Page::slots || tail_ == no_index) {
        const std::size_t left = pages.capacity() - pages.in_use();
        if (!is_answered && size_ / Page::slots > left / 2)
            return false;
        const PoolIndex page = pages.take();
        if (page == no_index)
            return false;
        (tail_ == no_index ? head_ : pages[tail_].next) = page;
        tail_ = page;
        end_ = 0;
    }
    pages[tail_].requests[end_] = request;
    pages[tail_].begun[end_] = false;
    ++end_;
    ++size_;
    return true;
}

void Outstanding::pop(Pages& pages) {
    --size_;
    ++first_;
    if (size_ == 0) {
        // Keep the page: a stream with one request usually has another.
        first_ = end_ = 0;
    } else if (first_ == Page::slots) {
        const PoolIndex next = pages[head_].next;
        pages.give_back(head_);
        head_ = next;
        first_ = 0;
    }
}

void Outstanding::clear(Pages& pages) {
    while (!empty())
        pop(pages);
}

void Outstanding::release(Pages& pages) {
    clear(pages);
    if (head_ != no_index)
        pages.give_back(head_);
    *this = Outstanding();
}

}  // namespace flow
