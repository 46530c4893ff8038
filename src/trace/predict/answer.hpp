// A learner's prediction, and how it is scored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "trace/predict/connection_state.hpp"
#include "trace/predict/packet.hpp"

namespace predict {

struct Answer {
    Kind kind{};
    std::optional<std::int32_t> offset;  // nullopt: only the kind counts

    bool operator==(const Answer&) const = default;
};
enum class Command : std::uint8_t { Reveal, Help, Quit };
struct Mistake {
    std::string text;  // a sentence

    bool operator==(const Mistake&) const = default;
};

/// "nak +4", "ack 5", "write psn +4", "send"; "", "?", "q".
using Input = std::variant<Answer, Command, Mistake>;
Input parse(std::string_view line);

/// Describes the input syntax; several lines.
std::string_view help();

enum class Grade : std::uint8_t { Right, Nearly, Wrong };  // Nearly: only the PSN differs
/// "right", "nearly", "wrong".
std::string_view name(Grade grade);

Grade grade(const ReliablePacket& packet, const Answer& answer);

/// Returns why `packet` was to be expected instead of `answer`; empty if there is no certain
/// reason. `ends`: the state before the packet.
std::string reason(const ReliablePacket& packet, const Answer& answer, const ConnectionState& ends);

/// Describes what each side knows, in one line each. `requester`, `responder`: "the client", "the
/// server".
std::string hint(const ConnectionState& ends, std::string_view requester,
                 std::string_view responder);

/// Returns the sentence with a capital letter.
std::string begun(std::string_view sentence);

}  // namespace predict
