// The questions of rocecap predict, for the page: the packets that are shown one after the other,
// what is asked before some of them, and the verdicts on all answers.
//
//   kinds    the kinds of an answer
//   texts    sentences, which the questions refer to by index; -1: none
//   before   number of earlier packets of reliable connections, which are not shown
//   goes_on  whether the run has packets after the last step
//   is_one   whether the packets belong to one connection
//   steps    [{"events", "frame", "psn", "ask"}, ...]
//              events  what the link emulator did before this packet; missing if nothing
//              frame   the packet; missing in the last step if there are only events
//              psn     the packet's, as a distance from the requester's first one
//              ask     missing if the packet is shown without a question
//
//   ask: sender, hint  texts
//        right         kinds that are right, by index, the packet's own first
//        why           by kind: [text for an answer with a lower PSN, text for another one]
#pragma once

#include <cstddef>

#include "trace/predict/run.hpp"
#include "util/json.hpp"

namespace page {

struct QuizLimits {
    std::size_t questions = 200;
    std::size_t steps = 2000;
    std::size_t context = 40;  // packets before the first question
};

/// null if there is no question.
util::Json quiz_json(const predict::Run& run, const QuizLimits& limits = {});

}  // namespace page
