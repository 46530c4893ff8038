#include "emulator/rule_words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "filter/where.hpp"
#include "util/number.hpp"
#include "util/utf8.hpp"

namespace emulator {
namespace {

constexpr std::chrono::minutes longest{1};

std::optional<std::pair<std::uint64_t, std::string_view>> number_and_rest(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{})
        return std::nullopt;
    return std::pair(number, text.substr(static_cast<std::size_t>(end - text.data())));
}

using Unit = std::pair<std::string_view, double>;

// Converts "20ms" to the base unit. Returns nullopt if the unit is not in `units`.
std::optional<double> scaled(std::string_view text, std::span<const Unit> units) {
    for (const auto& [unit, scale] : units)
        if (text.ends_with(unit))
            if (const auto number =
                    util::number_of<double>(text.substr(0, text.size() - unit.size())))
                return *number * scale;
    return std::nullopt;
}

// 1st, 2nd, 3rd, 4th, 11th, 12th, 13th, 21st, ...
std::string_view ordinal_end(std::uint64_t number) {
    constexpr std::array<std::string_view, 4> ends{"th", "st", "nd", "rd"};
    const bool is_teen = number / 10 % 10 == 1;
    return ends.at(is_teen || number % 10 > 3 ? 0 : number % 10);
}

}  // namespace

Word RuleWords::next(std::size_t from) const {
    const std::size_t begin = std::min(text_.find_first_not_of(" \t", from), text_.size());
    const std::size_t end = std::min(text_.find_first_of(" \t", begin), text_.size());
    return {text_.substr(begin, end - begin), begin};
}

bool RuleWords::is_number() const {
    return !word_.text.empty() && word_.text.front() >= '0' && word_.text.front() <= '9';
}

Word RuleWords::take() {
    return std::exchange(word_, next(word_.at + word_.text.size()));
}

bool RuleWords::take_if(std::string_view text) {
    const bool is = word_.text == text;
    if (is)
        take();
    return is;
}

void RuleWords::expect(std::string_view text) {
    if (!take_if(text))
        refuse(fmt::format("'{}' is expected here{}", text, instead()));
}

std::uint64_t RuleWords::count(std::string_view of, std::uint64_t low, std::uint64_t high) {
    const Word word = take();
    const auto read = util::number_of<std::uint64_t>(word.text);
    if (!read || *read < low || *read > high)
        refuse(word, fmt::format("{}: a number from {} to {} is expected here, not '{}'", of, low,
                                 high, word.text));
    return *read;
}

std::uint64_t RuleWords::ordinal() {
    const Word word = take();
    if (word.text == "first")
        return 1;
    const auto read = number_and_rest(word.text);
    if (!read || read->second != ordinal_end(read->first) || read->first == 0 ||
        read->first > most_packets)
        refuse(word, fmt::format("'{}' is not a valid packet number: 1st, 2nd, 3rd, 4th, ...",
                                 word.text));
    return read->first;
}

double RuleWords::share() {
    const Word word = take();
    constexpr std::array<Unit, 1> percent{{{"%", 1}}};
    const auto read = scaled(word.text, percent);
    if (!read || !(*read >= 0 && *read <= 100))
        refuse(word,
               fmt::format("a percentage from 0% to 100% is expected here, not '{}'", word.text));
    return *read / 100;
}

std::chrono::nanoseconds RuleWords::time() {
    constexpr std::array<Unit, 3> units{{{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
    constexpr auto most = static_cast<double>(std::chrono::nanoseconds(longest).count());
    const Word word = take();
    const auto ns = scaled(word.text, units);
    if (!ns || !(*ns > 0 && *ns <= most))
        refuse(word,
               fmt::format("a time like 200us, 20ms or 1s, at most 60s, is expected here, not '{}'",
                           word.text));
    return std::chrono::nanoseconds(std::llround(*ns));
}

std::uint64_t RuleWords::rate() {
    constexpr std::array<Unit, 3> units{{{"kbit/s", 1e3}, {"Mbit/s", 1e6}, {"Gbit/s", 1e9}}};
    const Word word = take();
    const auto bits = scaled(word.text, units);
    if (!bits || !(*bits >= 1e3 && *bits <= 1e12))
        refuse(word,
               fmt::format("a rate like 500kbit/s, 10Mbit/s or 1Gbit/s is expected here, not '{}'",
                           word.text));
    return static_cast<std::uint64_t>(*bits);
}

std::uint64_t RuleWords::value(std::uint64_t most) {
    const Word word = take();
    const auto value = util::prefixed_number_of<std::uint64_t>(word.text);
    if (!value || *value > most)
        refuse(word,
               fmt::format("a value from 0 to {:#x} is expected here, not '{}'", most, word.text));
    return *value;
}

void RuleWords::refuse(const Word& word, const std::string& why) const {
    const std::size_t column = 1 + util::characters(text_.substr(0, word.at));
    throw filter::SyntaxError(fmt::format("{} (column {})", why, column), column,
                              std::max<std::size_t>(1, util::characters(word.text)), text_);
}

std::string RuleWords::instead() const {
    return word_.text.empty() ? std::string() : fmt::format(", not '{}'", word_.text);
}

}  // namespace emulator
