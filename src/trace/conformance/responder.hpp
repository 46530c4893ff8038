// Model of the responder of a reliable connection (IBTA volume 1, 9.7.4 and 9.7.5). Input: requests
// that arrived. Each response that was sent must be required or allowed by one of them.
//
// A responder may respond late, so a response does not necessarily belong to the last arrival
// before it. Requests wait in a queue. A response removes all requests up to the first one that
// explains it; for the other removed requests, a response must have been optional.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "trace/conformance/finding.hpp"
#include "trace/conformance/half_connection.hpp"
#include "trace/conformance/sequence.hpp"

namespace conformance {

/// The responder's view of a request that arrived.
enum class Class : std::uint8_t { InOrder, Duplicate, OutOfSequence, Damaged, Unknown };

struct Arrival {
    ObservedPacket request;
    Class of = Class::Unknown;
    wire::Psn expected;  ///< before this request
    /// For OutOfSequence: a NAK for `expected` was due and not yet sent.
    bool opens_gap = false;
    /// The response to it, if known.
    std::optional<ObservedPacket> answer;
};

class Responder {
  public:
    Responder(const HalfConnectionFacts& facts, HalfFindings& findings, Keep keep);

    /// `is_copy`: it was captured before, and need not have arrived again.
    void request(const ObservedPacket& arrived, bool is_copy = false) {
        if (ahead_ && is_within(*ahead_, arrived))
            ahead_.reset();  // it was sent later
        waiting_.push_back(arrived);
        waiting_.back().is_copy = is_copy;
        ++waiting_with_[arrived.psn.value()];
        if (keep_ != Keep::All)
            limit();
    }
    void response(const ObservedPacket& sent);
    void finish(std::int64_t end_ns);

    /// Forgets the arrivals before this frame.
    void forget_before(std::uint64_t frame);

    /// The requests that arrived, in their order; complete after finish(). With Keep::Window, none.
    const std::deque<Arrival>& arrivals() const { return arrivals_; }
    /// Of all requests that arrived; complete after finish().
    struct ArrivalCounts {
        std::uint64_t duplicates = 0;
        std::uint64_t gaps = 0;  ///< out of sequence, and a NAK was due
        std::uint64_t refused_as_not_ready = 0;
    };
    const ArrivalCounts& counts() const { return counts_; }
    /// Requests that were answered and that a capture at one point does not have: the capture lost
    /// them, or another host sent the response. Complete after finish().
    struct Missing {
        std::uint64_t psns = 0;
        wire::Psn first;          ///< of the first of these requests
        std::uint64_t frame = 0;  ///< of the first response that shows it
    };
    const Missing& missing_requests() const { return missing_; }
    /// The capture does not contain the beginning of the connection.
    bool began_in_the_middle() const { return began_in_the_middle_; }
    /// The request from which on nothing was answered, although there was enough time.
    const std::optional<ObservedPacket>& silent_since() const { return silent_since_; }

  private:
    // A READ or an ATOMIC that was executed.
    struct Executed {
        ExtendedPsn first = 0;
        std::uint32_t psns = 1;
        std::uint32_t msn_before = 0;
        std::optional<std::uint64_t> value;  // what an ATOMIC returned
    };
    struct State {
        bool is_synchronised = false;
        ExtendedPsn expected = 0;
        std::uint32_t msn = 0;
        bool nak_sent = false;  // for a gap: no second one until `expected` arrives
        bool rnr_sent = false;
        bool is_dead = false;
        std::optional<wire::Operation> open;  // operation of the incomplete message
        bool is_open_known = true;
        std::size_t executed = 0;  // number of READs and ATOMICs; the last are in executed_

        bool operator==(const State&) const = default;
    };
    enum class Owed : std::uint8_t {
        Nothing,
        Ack,
        DuplicateAck,
        Data,
        SequenceNak,
        InvalidRequest
    };
    struct Expectation {
        Arrival arrival;
        State before;
        Owed owed = Owed::Nothing;
        bool is_required = false;
        ExtendedPsn place = 0;   // of the request
        std::uint32_t psns = 1;  // of the data
        std::uint32_t msn_low = 0, msn_high = 0;
        std::size_t executed = 0;  // for data: its number among READs and ATOMICs, from 1
    };
    // PSNs from `begin` to before `end`.
    struct Places {
        ExtendedPsn begin = INT64_MAX, end = INT64_MIN;

        void add(ExtendedPsn first, ExtendedPsn behind);
        bool contains(ExtendedPsn place) const { return place >= begin && place < end; }
        bool empty() const { return begin >= end; }
    };
    // The PSNs of which requests explain a response, at most.
    struct Outlook {
        Places acks, copies_acks, data, copies_data, gaps, refusals;

        void add(const Expectation& expectation);
        bool may_explain(const ObservedPacket& sent, ExtendedPsn place) const;
    };
    // Consecutive requests of waiting_. Who looks for a request skips the blocks that cannot have it.
    struct Block {
        std::size_t requests = 0;
        State before, after;
        Outlook outlook;
        Outlook of_damaged;  // as if they had arrived undamaged
        bool breaks_message = false;
    };
    static constexpr std::size_t block_size = 64;
    struct Found {
        std::size_t index = 0;  // in waiting_
        Expectation expectation;
    };
    // An ACK that came after the requester had retransmitted the request: if the responder acknowledges
    // the copy, too, it was slow; otherwise it answered only the copy.
    struct LateAck {
        ObservedPacket request;
        std::uint64_t copy = 0, ack = 0;  // frames
    };
    // Responses to requests that were not captured yet.
    struct Ahead {
        ExtendedPsn expected = 0, newest = 0;
        std::uint64_t frame = 0;  // of the first one
    };
    struct Reading {  // data that is being sent
        ObservedPacket request;
        ExtendedPsn first = 0, next = 0, end = 0;
        std::uint32_t msn_low = 0, msn_high = 0;
    };

    // Expected responses to a request: responder_state.cpp.
    Expectation process(const ObservedPacket& request);
    Expectation process_as_whole(ObservedPacket damaged);
    Expectation pass_over(const ObservedPacket& request);
    void enter(const Expectation& expectation);
    void in_order(const ObservedPacket& request, Expectation& expectation);
    void duplicate(const ObservedPacket& request, Expectation& expectation);
    bool breaks_message(const ObservedPacket& request) const;
    bool explains(const Expectation& expectation, const ObservedPacket& sent) const;
    static bool may_refuse(const Expectation& expectation);

    // Assignment of responses to requests: responder.cpp.
    void synchronise(const ObservedPacket& sent);
    bool continue_reading(const ObservedPacket& sent);
    void commit(const Found& found, const ObservedPacket& sent);
    void take(std::size_t count);
    void limit();
    void record(const Arrival& arrival);
    void forget(std::size_t count);
    void settle(Expectation& expectation, const ObservedPacket& sent);
    void settle_data(const Expectation& expectation, const ObservedPacket& sent);
    void covers(ExtendedPsn place);

    // Requests that wait, in blocks: responder_waiting.cpp.
    bool look_ahead(std::size_t block);
    void forget_blocks();
    void forget_from_blocks(std::size_t count);
    const State& later() const { return blocks_.empty() ? state_ : blocks_.back().after; }
    template <typename May, typename Fits>
    std::optional<Found> find(May may, Fits fits);
    std::optional<Found> find_explaining(const ObservedPacket& sent);
    std::optional<Found> find_damaged(const ObservedPacket& sent);
    std::optional<Found> find_owing(Owed owed);
    std::optional<Found> find_refusable();

    // Requests that the capture lost: responder_missing.cpp.
    bool go_past_missing(const State& later, const ObservedPacket& sent);
    void go_on_at(const ObservedPacket& request, ExtendedPsn answered, std::uint64_t frame);
    void note_missing(ExtendedPsn begin, ExtendedPsn end, std::uint64_t frame);
    void note_ahead(const State& later, const ObservedPacket& sent);
    bool is_within(const Ahead& ahead, const ObservedPacket& request) const;

    // Findings about responses that no request explains: responder_findings.cpp.
    void unexplained(const ObservedPacket& sent);
    void answer_of_the_dead(const ObservedPacket& sent);
    bool answers_damaged(const ObservedPacket& sent);
    void wrong_nak(const State& later, const ObservedPacket& sent);
    void wrong_data(const ObservedPacket& sent);
    void commit_corrected(const ObservedPacket& sent, wire::Psn psn);
    void wrong_ack(const State& later, const ObservedPacket& sent);
    void missing(const Expectation& expectation);
    void note_late_ack(const Expectation& expectation, const ObservedPacket& sent);
    void judge_late_acks(const Expectation& expectation, const ObservedPacket& sent);
    void report_missing_ack(const LateAck& late);
    void check_msn(const ObservedPacket& sent, std::uint32_t low, std::uint32_t high);
    void check_position(const ObservedPacket& sent);
    void report(Code code, const ObservedPacket& at, std::string text,
                std::vector<std::uint64_t> because = {});

    HalfConnectionFacts facts_;
    HalfFindings& findings_;
    Keep keep_;
    Sequence sequence_;
    State state_;
    std::deque<ObservedPacket> waiting_;
    std::unordered_map<std::uint32_t, std::uint32_t> waiting_with_;  // by PSN: number in waiting_
    std::deque<Block> blocks_;   // of the first requests in waiting_; all but the last are full
    std::size_t looked_at_ = 0;  // number of requests in blocks_, without those that are gone
    std::size_t gone_ = 0;       // requests of the first block that no longer wait
    std::vector<Executed> executed_;
    std::size_t forgotten_ = 0;  // number of older entries that were in executed_
    std::deque<Arrival> arrivals_;
    ArrivalCounts counts_;
    bool has_responded_ = false;
    std::optional<Reading> reading_;
    std::optional<Ahead> ahead_;
    Missing missing_;
    std::vector<LateAck> late_acks_;  // whose copies are not judged yet
    std::optional<ExtendedPsn> acknowledged_;
    std::uint64_t last_nak_ = 0;    // frame of the last NAK
    std::uint32_t msn_base_ = 0;    // if the capture begins after the connection
    std::uint32_t msn_offset_ = 0;  // the last one reported
    bool msn_is_known_ = false;
    std::optional<std::uint32_t> given_up_msn_;  // before the requests that limit() gave up
    bool began_in_the_middle_ = false;
    bool is_judged_dead_ = false;
    std::optional<ObservedPacket> silent_since_;
};

}  // namespace conformance
