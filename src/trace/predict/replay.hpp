// Shows the packets of a run one after the other: what both ends of each connection know before a
// packet, and the words of its question.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "trace/predict/connection_state.hpp"
#include "trace/predict/question_plan.hpp"
#include "trace/predict/run.hpp"

namespace predict {

/// The questions start at the first packet on which the link emulator acted, or at the first packet.
QuestionPlan plan_of(const Run& run);

class Replay {
  public:
    /// Keeps a reference to the run.
    explicit Replay(const Run& run) : run_(run), ends_(run.connections.size()) {}

    /// Takes the link emulator's events before this packet. Returns their texts.
    std::vector<std::string> see_events(std::size_t before);
    /// Takes the next packet. Its events come first.
    void see(std::size_t index);

    /// The state before the packet is seen.
    const ConnectionState& ends(std::size_t index) const {
        return ends_[run_.packets[index].connection];
    }
    /// "The client sends the next packet.": with the queue pair if there are several connections.
    std::string sender(std::size_t index) const;
    /// What each side knows, in one line each.
    std::string hint(std::size_t index) const;

  private:
    const Run& run_;
    std::vector<ConnectionState> ends_;
};

}  // namespace predict
