// Why a call failed, by the values that the log has of it: limits, and the state of its queue pair.
#pragma once

#include <string>
#include <vector>

#include "runlog/event.hpp"
#include "trace/explain/cause.hpp"
#include "trace/explain/logs.hpp"

namespace explain {

/// A reason that the call's values show.
struct Reason {
    std::string text;    ///< the second half of a sentence: "its queue pair was in INIT"
    std::string values;  ///< the value of the call beside the one that it must not exceed
    std::string try_this;
    Certainty certainty = Certainty::Certain;
};

/// Takes an event `failed`. Empty: its values show none, or the log is older than they.
std::vector<Reason> reasons_of(const runlog::Event& failed, const Logs& logs);

/// For a call that posts to the send queue: the outstanding requests beside the size of the queue,
/// as far as they are known.
std::string send_queue(const runlog::Event& failed, const LoggedQueuePair* pair);

}  // namespace explain
