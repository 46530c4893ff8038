// Selects the packets that a learner is asked about.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "trace/predict/packet.hpp"

namespace predict {

struct QuestionPlan {
    std::size_t begin = 0;         // the first packet that may be asked
    bool asks_all = false;         // not only packets where something is decided
    std::set<std::size_t> events;  // packets before which the link emulator acted
};

/// Something is decided if the sender changes, if the link emulator acted, if the kind of packet
/// changes, or if the PSN does not continue.
bool is_asked(const std::vector<ReliablePacket>& packets, std::size_t index,
              const QuestionPlan& course);

}  // namespace predict
