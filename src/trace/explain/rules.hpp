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

/// Adds a cause for which the connection failed, at a place that is no direction.
Cause& add_fatal(Causes& causes, Code code, Certainty certainty, std::string text,
                 std::string where);
/// "once", "3 times".
std::string times(std::size_t count);
/// "67.1 ms".
std::string milliseconds(std::int64_t ns);

/// The responder refused a request: a NAK of code 1 to 4, or the completion that follows from it.
void explain_refusal(const Case& one, Causes& causes);
/// The two ends expect different first PSNs. A part of explain_set_up(); true: it added a cause.
bool explain_first_psn(const Case& one, Causes& causes);
/// A requester that gave up, or repeats a request to the end of the capture.
void explain_silence(const Case& one, Causes& causes);
/// Requests that arrived, and have no response. A part of explain_silence(): the direction has a
/// stream, and its course a silent request.
void explain_no_response(const Case& one, Causes& causes);
/// A fatal cause with the silent request, its last copy and the completion as evidence.
Cause silent_cause(const Case& one, Code code, Certainty certainty, std::string text);
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

}  // namespace explain
