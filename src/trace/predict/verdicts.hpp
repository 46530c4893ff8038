// The verdicts on all possible answers to one question, for a program that has the verdicts but not
// this library: the page of a run.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/predict/connection_state.hpp"
#include "trace/predict/packet.hpp"

namespace predict {

/// The kinds of an answer.
inline constexpr std::array answer_kinds{Kind::Send,     Kind::Write, Kind::Read, Kind::Atomic,
                                         Kind::Response, Kind::Ack,   Kind::Nak,  Kind::RnrNak};

/// An answer of a kind in `right` is right if it has no PSN or the PSN `offset`, and nearly right
/// if it has another one. All other answers are wrong.
struct Verdicts {
    /// As reason() gives it. It depends on the kind of an answer, and on whether its PSN is lower
    /// than `offset`.
    struct Reasons {
        std::string lower;
        std::string other;
    };

    std::vector<Kind> right;  // the packet's own kind first
    std::int32_t offset = 0;
    std::array<Reasons, answer_kinds.size()> reasons;  // by kind, in the order of answer_kinds
};

/// `ends`: the state before the packet.
Verdicts verdicts_on(const ReliablePacket& packet, const ConnectionState& ends);

}  // namespace predict
