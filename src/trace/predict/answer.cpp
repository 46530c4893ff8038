#include "trace/predict/answer.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <sstream>
#include <vector>

#include <fmt/format.h>

namespace predict {
namespace {

std::vector<std::string> words_of(std::string_view line) {
    std::istringstream text{std::string(line)};
    std::vector<std::string> words;
    for (std::string word; text >> word;) {
        std::ranges::transform(word, word.begin(),
                               [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        words.push_back(std::move(word));
    }
    return words;
}

std::optional<std::int32_t> offset_of(std::string_view word) {
    if (word.starts_with('+'))
        word.remove_prefix(1);
    std::int32_t offset = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), offset);
    if (error != std::errc() || end != word.data() + word.size())
        return std::nullopt;
    return offset;
}

}  // namespace

Input parse(std::string_view line) {
    std::vector<std::string> words = words_of(line);
    if (words.empty())
        return Command::Reveal;
    if (words.size() == 1 && words[0] == "?")
        return Command::Help;
    if (words.size() == 1 && words[0] == "q")
        return Command::Quit;
    const auto kind = kind_of(words[0]);
    if (!kind)
        return Mistake{
            fmt::format("'{}' is not a kind of packet: choose send, write, read, atomic, response, "
                        "ack, nak, rnr.",
                        words[0])};
    Answer answer{*kind, std::nullopt};
    auto rest = words.begin() + 1;
    if (rest != words.end() && *rest == "nak" && *kind == Kind::RnrNak)
        ++rest;
    if (rest != words.end() && *rest == "psn")
        ++rest;
    if (rest == words.end())
        return answer;
    answer.offset = offset_of(*rest);
    if (!answer.offset)
        return Mistake{
            fmt::format("'{}' is not a PSN: write its distance from the first one, as in "
                        "'{} +4'.",
                        *rest, words[0])};
    if (rest + 1 != words.end())
        return Mistake{
            fmt::format("'{}' is not expected: write a kind and a PSN, as in 'nak +4'.", rest[1])};
    return answer;
}

std::string_view help() {
    return R"(A line is KIND and PSN, as in 'nak +4'. The PSN counts from the requester's first one; without it
only the kind counts. Kinds: send, write, read, atomic; response (of a READ or an atomic), ack, nak,
rnr. An empty line shows the packet, 'q' ends.
)";
}

std::string_view name(Grade grade) {
    constexpr std::array<std::string_view, 3> names{"right", "nearly", "wrong"};
    return names[static_cast<std::size_t>(grade)];
}

Grade grade(const ReliablePacket& packet, const Answer& answer) {
    // An atomic's response may be called by either name: its sender is known.
    const bool is_kind =
        packet.kind() == answer.kind ||
        (packet.is(wire::Operation::AtomicAcknowledge) && answer.kind == Kind::Atomic);
    if (!is_kind)
        return Grade::Wrong;
    return !answer.offset || *answer.offset == packet.offset ? Grade::Right : Grade::Nearly;
}

std::string begun(std::string_view sentence) {
    std::string text(sentence);
    if (!text.empty())
        text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

std::string hint(const ConnectionState& ends, std::string_view requester,
                 std::string_view responder) {
    std::string text =
        fmt::format("{} expects {} next", begun(responder), psn_text(ends.expected()));
    if (ends.asked_for() == ends.expected())
        text += ", and has sent a NAK for it";
    else if (ends.has_gap())
        text += ", but the last packet had another PSN";
    if (ends.behind_sent() == 0)
        return text + fmt::format(".\n{} has sent no request yet.", begun(requester));
    text += fmt::format(".\n{} has sent up to {}; ", begun(requester),
                        psn_text(ends.behind_sent() - 1));
    if (ends.oldest_open() >= ends.behind_sent())
        return text + "all PSNs are acknowledged.";
    return text +
           (ends.oldest_open() == ends.behind_sent() - 1
                ? "this PSN is not acknowledged."
                : fmt::format("from {} on, no PSN is acknowledged.", psn_text(ends.oldest_open())));
}

}  // namespace predict
