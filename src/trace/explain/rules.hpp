// The rules: each looks at one direction, at one log's queue pair or at the whole, and adds the
// causes that the data show. A rule that is not sure adds nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace/explain/cause.hpp"
#include "trace/explain/course.hpp"
#include "trace/explain/direction.hpp"
#include "trace/explain/logs.hpp"
#include "trace/explain/traffic.hpp"

namespace explain {

/// What is there beside a direction.
struct Whole {
    const Traffic& traffic;
    const Logs& logs;
    bool has_capture = false;
    /// Where it was made; nullopt: unknown.
    std::optional<flow::Host> place;
};

struct Case {
    const Direction& direction;
    const Course& course;
    const Whole& whole;

    bool is_captured_at_responder() const {
        return direction.stream != nullptr && whole.place == direction.stream->key.dst;
    }
    /// Whether the responder's log has `earlier` before what the capture has at `later`. False where
    /// their clocks may differ by more than what lies between.
    bool is_before(std::int64_t earlier, std::int64_t later) const;
    /// The first completion of the requester's send queue with one of these; nullptr: none.
    const Completion* error(std::string_view status) const;
    Cause cause(Code code, Certainty certainty, std::string text) const;
};

using Causes = std::vector<Cause>;

/// The responder refused a request: a NAK of code 1 to 4, or the completion that follows from it.
void explain_refusal(const Case& one, Causes& causes);
/// A requester that gave up, or repeats a request to the end of the capture.
void explain_silence(const Case& one, Causes& causes);
/// The two ends were set up differently.
void explain_set_up(const Case& one, Causes& causes);
/// RNR NAKs.
void explain_receiver(const Case& one, Causes& causes);
/// What was lost, late, doubled or damaged on the way.
void explain_recovery(const Case& one, Causes& causes);
/// Datagrams and their Q_Keys and queue pairs.
void explain_datagrams(const Case& one, Causes& causes);
/// Only one direction is in the capture.
void explain_capture(const Case& one, Causes& causes);

/// Local errors, full queues, calls that failed: of all logs.
void explain_programs(const Whole& whole, const std::vector<Direction>& directions, Causes& causes);
/// Connections that were not made.
void explain_connection_manager(const Whole& whole, Causes& causes);
/// Answers to requests that are not in the capture.
void explain_missing_requests(const Whole& whole, Causes& causes);
/// ECN marks and CNPs.
void explain_congestion(const Whole& whole, Causes& causes);

/// Bytes of the message that a packet belongs to, and its first packet; the packet itself where it
/// begins before the capture.
struct Message {
    const Seen* first = nullptr;
    std::uint64_t length = 0;
};
Message message_of(const Direction& direction, const Seen& packet);

}  // namespace explain
