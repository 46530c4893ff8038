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

class ResponseSequence {
  public:
    /// The five NAK codes of the specification, and one entry for all others.
    static constexpr std::size_t nak_codes = 6;
    static constexpr std::size_t psn_sequence_error = 0;

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

    std::uint64_t packets() const { return packets_; }
    wire::Psn first_psn() const { return first_psn_; }
    /// The PSN farthest in the sequence.
    wire::Psn last_psn() const { return last_psn_; }
    std::uint64_t acks() const { return acks_; }
    /// ACKs known to acknowledge something new, and the number of PSNs that they acknowledged.
    std::uint64_t counted_acks() const { return counted_acks_; }
    std::uint64_t psns_acked() const { return psns_acked_; }
    std::uint64_t most_acked() const { return most_acked_; }
    const std::array<std::uint64_t, nak_codes>& naks() const { return naks_; }
    std::uint64_t rnr_naks() const { return rnr_naks_; }
    /// Returns whether the requester was asked to retransmit.
    bool asked_again() const { return rnr_naks_ != 0 || naks_[psn_sequence_error] != 0; }
    /// Responses seen before, to retransmitted requests.
    std::uint64_t repeats() const { return repeats_; }
    /// READ responses that filled a gap.
    std::uint64_t late() const { return late_; }
    /// Gaps in READ responses.
    const Gaps& gaps() const { return gaps_; }

  private:
    void count(wire::Psn psn);
    void acknowledge(wire::Psn psn);
    void refuse(wire::Psn psn);
    std::int32_t ahead_of_next(wire::Psn psn);
    void move_to(wire::Psn psn);

    wire::Psn next_;
    wire::Psn first_psn_;
    wire::Psn last_psn_;
    bool started_ = false;
    bool in_read_ = false;  // between a READ's first and last response
    std::uint32_t read_run_ = 0;
    std::uint32_t longest_read_run_ = 0;
    std::uint64_t packets_ = 0;
    std::uint64_t acks_ = 0;
    std::uint64_t counted_acks_ = 0;
    std::uint64_t psns_acked_ = 0;
    std::uint64_t most_acked_ = 0;
    std::array<std::uint64_t, nak_codes> naks_{};
    std::uint64_t rnr_naks_ = 0;
    std::uint64_t repeats_ = 0;
    std::uint64_t late_ = 0;
    Gaps gaps_;
};

}  // namespace flow
