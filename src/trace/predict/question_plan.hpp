// Which packets a learner is asked for.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "trace/predict/packet.hpp"

namespace predict {

struct QuestionPlan {
    std::size_t begin = 0;         // the first one that may be asked
    bool asks_all = false;         // and not only where something is decided
    std::set<std::size_t> events;  // packets in front of which the link emulator did something
};

/// Something is decided where the sender is another than before, where the link emulator did something,
/// where the kind of packet changes, and where the PSN does not go on.
bool is_asked(const std::vector<Packet>& packets, std::size_t index, const QuestionPlan& course);

}  // namespace predict
