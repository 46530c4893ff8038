// The responses of one stream: acknowledgements, refusals and READ responses. Their PSNs belong to
// the requests of the stream in the other direction (IBTA volume 1, 9.7.3).
#pragma once

#include <array>
#include <cstdint>

#include "trace/flow/gaps.hpp"
#include "wire/extension_headers.hpp"
#include "wire/opcode.hpp"
#include "wire/psn.hpp"

namespace flow {

/// The responses of one direction, to the requests of the other one.
struct Responses {
    /// The five NAK codes of the specification, and one entry for all others.
    static constexpr std::size_t nak_codes = 6;
    static constexpr std::size_t psn_sequence_error = 0;

    std::uint64_t packets = 0;
    wire::Psn first_psn;  ///< valid if packets != 0
    wire::Psn last_psn;   ///< the one farthest in the sequence
    std::uint64_t acks = 0;
    std::uint64_t counted_acks = 0;  ///< of these, known to acknowledge something new
    std::uint64_t psns_acked = 0;    ///< by the counted ACKs
    std::uint64_t most_acked = 0;    ///< by a single one
    std::array<std::uint64_t, nak_codes> naks{};
    std::uint64_t rnr_naks = 0;
    std::uint64_t repeats = 0;  ///< seen before: to retransmitted requests
    std::uint64_t late = 0;     ///< READ responses that filled a gap
    std::uint64_t gaps = 0;     ///< among READ responses
    std::uint64_t missing = 0;
};

class ResponseSequence {
  public:
    /// Sets the first PSN of the requests, from which acknowledged packets can be counted. No
    /// effect after the first response.
    void expect(wire::Psn first);

    /// An Acknowledge packet.
    void add_acknowledge(wire::Psn psn, const wire::Aeth& aeth);
    Novelty add_read_response(wire::Psn psn, wire::Position position);
    Novelty add_atomic_acknowledge(wire::Psn psn);

    bool started() const { return started_; }
    /// The PSN after the last acknowledged one.
    wire::Psn next() const { return next_; }

    /// Returns what was counted so far.
    Responses counts() const;
    std::uint64_t packets() const { return counts_.packets; }
    /// Returns whether the requester was asked to retransmit.
    bool asked_again() const {
        return counts_.rnr_naks != 0 || counts_.naks[Responses::psn_sequence_error] != 0;
    }

  private:
    void count(wire::Psn psn);
    void acknowledge(wire::Psn psn);
    void refuse(wire::Psn psn);
    std::int32_t ahead_of_next(wire::Psn psn);
    void move_to(wire::Psn psn);

    wire::Psn next_;
    bool started_ = false;
    bool in_read_ = false;  // between a READ's first and last response
    std::uint32_t read_run_ = 0;
    std::uint32_t longest_read_run_ = 0;
    Responses counts_;  // without those of gaps_
    Gaps gaps_;
};

}  // namespace flow
