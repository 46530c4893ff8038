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

/// How to write them; lines.
std::string_view help();

enum class Grade : std::uint8_t { Right, Nearly, Wrong };  // Nearly: the PSN is another
/// "right", "nearly", "wrong".
std::string_view name(Grade grade);

Grade grade(const Packet& packet, const Answer& answer);

/// Why `packet` was to be expected and not what `answer` says; empty where that cannot be said.
/// `ends`: as they were before it.
std::string reason(const Packet& packet, const Answer& answer, const ConnectionState& ends);

/// What each side knows, a line each. `requester` and `responder`: "the client", "the server".
std::string hint(const ConnectionState& ends, std::string_view requester,
                 std::string_view responder);

/// With a capital letter.
std::string begun(std::string_view sentence);

}  // namespace predict
