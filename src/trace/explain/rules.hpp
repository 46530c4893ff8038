// The rules. Each examines one direction, one queue pair in a log, or everything, and adds the
// causes that the data show. A rule without sufficient data adds nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/conformance/checker.hpp"
#include "trace/explain/cause.hpp"
#include "trace/explain/course.hpp"
#include "trace/explain/direction.hpp"
#include "trace/explain/link_record.hpp"
#include "trace/explain/logs.hpp"
#include "trace/explain/passages.hpp"
#include "trace/explain/rejection.hpp"
#include "trace/explain/traffic.hpp"

namespace explain {

/// What the programs did with their queue pairs, at the latest.
class Progress {
  public:
    explicit Progress(const Logs& logs);

    /// Returns whether the program posted or received anything after a failed call, or connected
    /// another queue pair before its log broke off.
    bool goes_on_after(const runlog::Event& failed) const;

  private:
    struct OfRole {
        bool is_end_known = false;
        std::int64_t used_ns = INT64_MIN;  // a post, or a receive's completion
        // The latest RTR, and the latest one of another number.
        std::int64_t ready_ns = INT64_MIN, other_ready_ns = INT64_MIN;
        std::uint32_t ready_qpn = 0;
    };
    void learn_ready(OfRole& role, const LoggedQueuePair& pair);

    std::unordered_map<std::string, OfRole> roles_;
};

/// Data that do not belong to one direction.
struct Whole {
    const Traffic& traffic;
    const Logs& logs;
    const LinkRecord& link;
    const Directions& directions;
    const Progress& progress;
    bool has_capture = false;
    /// The host where the capture was made; nullopt: unknown.
    std::optional<flow::Host> place;
    /// Of a capture at both ends; otherwise nullptr.
    const Passages* passages = nullptr;

    /// Where a cause of this queue pair is: at its direction, so that the cause is listed with the others of
    /// it, or at the queue pair itself.
    std::string where_of(const LoggedQueuePair& pair, bool as_responder) const;
};

struct Case {
    const Direction& direction;
    const Course& course;
    const Whole& whole;

    bool is_captured_at_responder() const {
        return direction.stream != nullptr && whole.place == direction.stream->key.dst;
    }
    bool is_captured_at_requester() const {
        return direction.stream != nullptr && whole.place == direction.stream->key.src;
    }
    /// Whether a response in the capture arrived at the requester, if nothing says that it was lost.
    bool shows_what_requester_got() const {
        return is_captured_at_requester() || whole.passages != nullptr;
    }
    /// Returns whether `earlier`, from the responder's log, is before `later`, from the capture.
    /// False if the clocks may differ by more than the interval.
    bool is_before(std::int64_t earlier, std::int64_t later) const;
    /// Returns whether all requests completed without an error, according to the requester's log. A
    /// reliable transport then delivered them.
    bool has_succeeded() const;
    /// Returns whether the responder took a request: a response other than a NAK shows it, or without
    /// packets the status of a completion.
    bool was_answered() const;
    /// Returns the first response that shows that the responder accepted the PSN of a request: other than
    /// a NAK for the sequence of PSNs. nullptr: none.
    const Seen* first_accepted() const;
    /// Returns whether the responder's log is complete: also, it does not lack the queue pair that
    /// responded.
    bool is_responders_log_whole() const;
    /// Returns whether it shows what the responder lacked when the first request came, too: it was not
    /// cut before.
    bool is_responders_log_there() const;
    /// Returns whether the responder's host sent a packet after this frame.
    bool is_responder_alive(std::uint64_t since_frame) const;
    /// Returns whether the requester gave up, or retransmits a request until the end.
    bool has_given_up() const {
        return error("RETRY_EXC_ERR") != nullptr || course.silent_copies.size() > 2;
    }
    /// Returns whether a rule has found this cause for the direction.
    bool is_explained_by(Code code, const std::vector<Cause>& causes) const;
    /// Returns whether a rule has found a cause, at least likely, for the direction's end.
    bool is_end_explained(const std::vector<Cause>& causes) const;
    /// Returns whether a rule has found a cause, of any certainty, for the direction's end.
    bool has_fatal(const std::vector<Cause>& causes) const;
    /// Returns whether a READ did not complete, even if its response arrived.
    bool has_unfinished_read() const;
    /// Returns the first completion of the requester's send queue with this status; nullptr: none.
    const Completion* error(std::string_view status) const;
    Cause cause(Code code, Certainty certainty, std::string text) const;
};

/// Returns whether the first request of the queue pair completed without an error.
bool has_executed(const LoggedQueuePair& pair);

using Causes = std::vector<Cause>;

/// Adds a fatal cause at a place that is not a direction.
Cause& add_fatal(Causes& causes, Code code, Certainty certainty, std::string text,
                 std::string where);
/// Adds a fatal cause of a direction, with its first request.
Cause& add_fatal(const Case& one, Causes& causes, Code code, Certainty certainty, std::string text);
/// "once", "3 times".
std::string times(std::uint64_t count);
/// "1 packet was" or "2 packets were", with the two forms of a verb.
std::string packets(std::uint64_t count, std::string_view singular, std::string_view plural);
/// Returns whether a program may have made one of two different 24-bit numbers (QPNs, PSNs) from the
/// other by the wrong byte order: of its three bytes, or of the four of a 32-bit value. Of these,
/// packets have the low 24 bits. False for 0, which many numbers become.
bool is_in_other_byte_order(std::uint32_t one, std::uint32_t other);
/// "67.1 ms".
std::string milliseconds(std::int64_t ns);

/// The responder refused a request: NAK code 1 to 4, or the completion that results from it.
void explain_refusal(const Case& one, Causes& causes);
/// The two ends expect different first PSNs. Part of explain_set_up(). Returns true if it added a
/// cause.
bool explain_first_psn(const Case& one, Causes& causes);
/// The connection manager's messages and the first request differ. Such a request may be acknowledged.
bool explain_announced_psn(const Case& one, Causes& causes);
/// The two ends have different path MTUs. Part of explain_set_up().
void explain_path_mtu(const Case& one, Causes& causes);
/// The requests go to an address that is not the peer's, or come from one that the responder does not
/// expect. Part of explain_set_up(). Returns true if it added a cause.
bool explain_wrong_gid(const Case& one, Causes& causes);
/// The requests go to a queue pair that does not exist, or is connected to another one. Part of
/// explain_set_up(). Returns true if it added a cause.
bool explain_wrong_qpn(const Case& one, Causes& causes);
/// A requester that gave up, or retransmits a request until the end of the capture.
void explain_silence(const Case& one, Causes& causes);
/// Returns whether the capture has a packet of the request that failed with RETRY_EXC_ERR.
bool has_failed_request(const Case& one);
/// A posted request without a completion whose packets, or the last of them, the capture does not have.
/// Part of explain_silence().
void explain_unfinished(const Case& one, Causes& causes);
/// A request that failed with RETRY_EXC_ERR, and of which the capture has no packet. Part of
/// explain_silence().
void explain_absent(const Case& one, Causes& causes);
/// Requests that arrived but have no response. Part of explain_silence(): the direction must have a
/// stream, and its course a silent request.
void explain_no_response(const Case& one, Causes& causes);
/// A router or the responder's host reported (ICMP) that it dropped the silent request or, if the
/// transport is unreliable, any request; or nobody resolved the responder's address (ARP, neighbour discovery). Part of explain_silence(). Returns true if it added a cause.
bool explain_reported(const Case& one, Causes& causes);
/// Of a message that was sent again and again, only the small packets arrive. Part of explain_silence().
/// They return true if they added a cause.
bool explain_large_requests(const Case& one, Causes& causes);
bool explain_large_responses(const Case& one, Causes& causes);
/// Returns a fatal cause with the silent request, its last copy and the completion as evidence.
Cause silent_cause(const Case& one, Code code, Certainty certainty, std::string text);
/// The two ends were configured differently.
void explain_set_up(const Case& one, Causes& causes);
/// RNR NAKs.
void explain_receiver(const Case& one, Causes& causes);
/// Packets with a wrong ICRC. Part of explain_recovery(). Returns whether their receiver drops some.
bool explain_damage(const Case& one, Causes& causes);
/// Requests whose first copies were lost before the capture, according to the times of the requester's
/// log. Part of explain_recovery().
void explain_lost_first_copies(const Case& one, Causes& causes);
/// What a capture at both ends shows of the path. Part of explain_recovery().
void explain_both_ends(const Case& one, Causes& causes);
/// The same of a request that was sent until the end. Part of explain_silence(). Returns true if it
/// added a cause.
bool explain_end_at_both_ends(const Case& one, Causes& causes);
/// Requests that arrived at the responder's host were retransmitted, and no response shows that it took
/// them. `example`: may be nullptr.
Cause dropped_by_host(const Case& one, const Episode* example, std::int64_t cost_ns);
/// Packets lost, late, duplicated or corrupted on the path.
void explain_recovery(const Case& one, Causes& causes);
/// Requests that were retransmitted although nothing shows a loss. Part of explain_recovery(). `data`:
/// READs and atomics among them; `lost`: losses that other retransmissions show. Returns whether the ACK timeout is too short: then a timer that
/// expired shows no loss.
bool explain_late(const Case& one, std::size_t data, std::size_t lost, Causes& causes);
/// Datagrams that their receiver drops: queue pair, Q_Key, state, and posted receives.
void explain_datagrams(const Case& one, Causes& causes);
/// What both logs show without a capture. Call it after the other rules about the direction.
void explain_two_logs(const Case& one, Causes& causes);
/// Only one direction is in the capture.
void explain_capture(const Case& one, Causes& causes);

/// The first response that shows that a posted request was executed; nullptr: none.
const Seen* answer_to(const Direction& direction, const Post& post);
/// Returns the captured messages that took a receive and were acknowledged: the last packet of each, once, in
/// their order. Those that the stream has forgotten are missing.
std::vector<const Seen*> taken_messages(const Direction& direction);
/// Completions that the program did not poll until it was ended. Call it after the other rules about the
/// direction.
void explain_unpolled(const Case& one, Causes& causes);

/// Adds to each certain cause of the direction what it could have been instead. It stays certain only
/// if data exclude all of that. Call it after the rules.
void exclude_alternatives(const Case& one, Causes& causes);

/// Why the queue pair may not use the memory of a request or receive of its own, by the role's log.
struct MemoryFault {
    std::string text;  ///< "the region with lkey 0x00000007 does not allow local_write"
    Certainty certainty = Certainty::Certain;
    std::vector<Evidence> evidence;
    std::string advice;

    void add_to(Cause& cause) const;
};
/// nullopt: none is known.
std::optional<MemoryFault> memory_fault(const Logs& logs, const LoggedQueuePair& pair,
                                        const Completion& failed);
/// A message for which no receive of the responder's shared receive queue has room. Which of them it
/// took is unknown.
struct TooLong {
    std::string text;
    Evidence queue;
};
/// nullopt: one may have room, or the log does not show it.
std::optional<TooLong> too_long_for_shared(const Logs& logs, const LoggedQueuePair& responder,
                                           std::uint64_t length);
/// Local errors, full send queues, READs without depth: from all logs.
void explain_programs(const Whole& whole, Causes& causes);
/// Completion queues that had more completions than entries.
void explain_overruns(const Whole& whole, Causes& causes);
/// Returns whether a `failed` event is a sign of a failure: the program needed the call, and did not
/// go on.
bool is_failure(const runlog::Event& event, const Progress& progress);
/// Failed calls. Call it after the other rules, which know more.
void explain_calls(const Whole& whole, Causes& causes);
/// A program that a signal ended before its peer. Call it after the other rules: an error that they explain
/// may be the reason why the program ended.
void explain_ended(const Whole& whole, Causes& causes);
/// Queue pairs that could not go to RTR because of their destination.
void explain_failed_rtr(const Whole& whole, Causes& causes);
/// Connections that were not established.
void explain_connection_manager(const Whole& whole, Causes& causes);
/// The same from the programs' events and calls alone. Part of explain_connection_manager().
void explain_connection_events(const Whole& whole, const Listeners& listeners, Causes& causes);
/// Responses to requests that are not in the capture.
void explain_missing_requests(const Whole& whole, Causes& causes);
/// Packets whose headers the capture cut off. What such responses show is at most possible. Call it
/// after the other rules about packets.
void explain_cut(const Whole& whole, Causes& causes);
/// What the check found in the capture. Call it after the other rules. `has_failed`: as in
/// Explanation; what a missing packet may explain is then no cause.
void explain_deviations(const Whole& whole, const conformance::Report& report, bool has_failed,
                        Causes& causes);
/// ECN marks and CNPs.
void explain_congestion(const Whole& whole, Causes& causes);
/// Which rules of the link emulator are the reason of a cause. Call it after the other rules.
void explain_link(const Whole& whole, bool has_failed, Causes& causes);
/// The last copy of a request that was sent three times or more, without a response to the end.
std::optional<Evidence> unanswered_request(const Course& course);
/// Such requests of connections that no fatal cause is about. Call it after the other rules. `courses`:
/// of Whole::directions.
std::vector<Unanswered> unanswered_without_cause(const Whole& whole,
                                                 const std::vector<Course>& courses,
                                                 const Causes& causes);
/// Retransmissions of directions that have no cause. Call it after the other rules. `courses`: of
/// Whole::directions.
std::vector<Retransmissions> retransmissions_without_cause(const Whole& whole,
                                                           const std::vector<Course>& courses,
                                                           const Causes& causes);
/// Many queue pairs with one UDP source port. Call it after the rules about losses.
void explain_one_path(const Whole& whole, Causes& causes);
/// Ranks that came late to a collective; and the steps in which other causes cost time, or which they ended.
void explain_collectives(const Whole& whole, Causes& causes);

}  // namespace explain
