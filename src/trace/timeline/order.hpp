// The order of two rows with the same time. Clock bounds produce equal times.
#pragma once

#include "runlog/event.hpp"

namespace timeline {

// The order is: the post, its packet, the completion.
inline int event_rank(const runlog::Event& event) {
    return event.name == "post_send" ? 0 : 2;
}
constexpr int packet_rank = 1;

}  // namespace timeline
