#include "cable/rule.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "query/field.hpp"

namespace cable {
namespace {

using query::SyntaxError;

constexpr std::uint64_t most_packets = 1'000'000'000;
constexpr Nanoseconds longest = std::chrono::minutes(1);
constexpr std::array<std::string_view, std::variant_size_v<Action>> names{
    "drop", "duplicate", "delay", "reorder", "corrupt", "set", "mark", "cut", "limit"};

struct Word {
    std::string_view text;  // empty at the end
    std::size_t at = 0;     // bytes from the rule's first
};

// One of UTF-8 counts as one.
std::size_t characters(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; }));
}

template <typename Number>
std::optional<std::pair<Number, std::string_view>> number_and_rest(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{})
        return std::nullopt;
    return std::pair(number, text.substr(static_cast<std::size_t>(end - text.data())));
}

class Parser {
  public:
    Parser(std::string_view text, const std::vector<std::string>& hosts)
        : text_(text), hosts_(hosts), word_(next_word(0)) {}

    Rule parse() {
        Rule rule{std::string(text_), action(), {}, false, {}, {}, std::nullopt};
        which(rule);
        if (take_if("from"))
            rule.from = host();
        if (take_if("to"))
            rule.to = host();
        if (word_.text == "where")
            rule.where = query::Where::parse(text_, word_.at + word_.text.size());
        else if (!word_.text.empty())
            refuse(
                fmt::format("'{}' is not expected here: a rule goes on with from HOST, to HOST or "
                            "where EXPRESSION",
                            word_.text));
        return rule;
    }

  private:
    Word next_word(std::size_t from) const {
        const std::size_t begin = std::min(text_.find_first_not_of(" \t", from), text_.size());
        const std::size_t end = std::min(text_.find_first_of(" \t", begin), text_.size());
        return {text_.substr(begin, end - begin), begin};
    }
    Word take() { return std::exchange(word_, next_word(word_.at + word_.text.size())); }
    bool take_if(std::string_view text) {
        const bool is = word_.text == text;
        if (is)
            take();
        return is;
    }

    [[noreturn]] void refuse(const std::string& why) const { refuse(word_, why); }
    [[noreturn]] void refuse(const Word& word, const std::string& why) const {
        const std::size_t column = 1 + characters(text_.substr(0, word.at));
        throw SyntaxError(fmt::format("{} (column {})", why, column), column,
                          std::max<std::size_t>(1, characters(word.text)), text_);
    }
    void expect(std::string_view text) {
        if (!take_if(text))
            refuse(fmt::format("'{}' belongs here{}", text, instead()));
    }
    std::string instead() const {
        return word_.text.empty() ? std::string() : fmt::format(", not '{}'", word_.text);
    }

    Action action() {
        const Word word = take();
        switch (std::ranges::find(names, word.text) - names.begin()) {
            case 0:
                return Drop{};
            case 1:
                return duplicate();
            case 2:
                return Delay{time()};
            case 3:
                expect("by");
                return Reorder{static_cast<std::uint32_t>(count("packets", 1, 1000))};
            case 4:
                return corrupt();
            case 5:
                return set();
            case 6:
                return Mark{};
            case 7:
                return cut();
            case 8:
                return limit();
            default:
                refuse(word,
                       fmt::format("a rule begins with what is done: {}{}", fmt::join(names, ", "),
                                   word.text.empty() ? std::string()
                                                     : fmt::format(", not '{}'", word.text)));
        }
    }

    Duplicate duplicate() {
        Duplicate action;
        if (is_number()) {
            action.copies = static_cast<std::uint32_t>(count("copies", 1, 1000));
            expect("times");
        }
        if (take_if("after"))
            action.after = time();
        return action;
    }

    Corrupt corrupt() {
        Corrupt action;
        if (take_if("byte"))
            action.byte = static_cast<std::uint32_t>(count("the byte", 0, 65535));
        action.icrc = icrc(action.icrc);
        return action;
    }

    Set set() {
        const Word name = take();
        Set action{find_writable(name.text), 0, wire::IcrcAfter::Good};
        if (action.field == nullptr)
            refuse(name, not_writable(name.text));
        expect("to");
        const Word word = take();
        action.value = value(word, action.field->most());
        action.icrc = icrc(action.icrc);
        return action;
    }

    static std::string not_writable(std::string_view name) {
        if (query::find_field(name) != nullptr)
            return fmt::format("'{}' cannot be set: rocewire fields lists those that can", name);
        return fmt::format("there is no field '{}': rocewire fields lists those that can be set",
                           name);
    }

    Cut cut() {
        expect("for");
        const Cut action{time()};
        take_if("at");
        return action;
    }

    Limit limit() {
        expect("to");
        Limit action{rate(), Limit().queue};
        if (take_if("queue"))
            action.queue = static_cast<std::uint32_t>(count("packets", 1, 100'000));
        return action;
    }

    wire::IcrcAfter icrc(wire::IcrcAfter otherwise) {
        if (!take_if("with"))
            return otherwise;
        const bool good = word_.text == "good";
        if (!good && word_.text != "bad")
            refuse(fmt::format("'with good icrc' or 'with bad icrc' belongs here{}", instead()));
        take();
        expect("icrc");
        return good ? wire::IcrcAfter::Good : wire::IcrcAfter::Left;
    }

    void which(Rule& rule) {
        Which& which = rule.which;
        if (take_if("the")) {
            which.kind = Which::Kind::Range;
            which.first = which.last = ordinal();
            rule.any_frame = noun(false);
        } else if (take_if("every")) {
            which.kind = Which::Kind::Every;
            which.every = ordinal();
            rule.any_frame = noun(false);
        } else if (is_number()) {
            which.kind = Which::Kind::Share;
            which.share = share();
            expect("of");
            rule.any_frame = noun(true);
            if (take_if("seed"))
                which.seed = count("the seed", 0, UINT64_MAX);
        } else {
            rule.any_frame = noun(true);
            if (is_number())
                range(which);
        }
    }

    void range(Which& which) {
        which.kind = Which::Kind::Range;
        which.first = count("the first packet", 1, most_packets);
        expect("to");
        const Word last = word_;
        which.last = count("the last packet", 1, most_packets);
        if (which.last < which.first)
            refuse(last, fmt::format("packets {} to {} are none: the smaller number comes first",
                                     which.first, which.last));
    }

    bool is_number() const {
        return !word_.text.empty() && word_.text.front() >= '0' && word_.text.front() <= '9';
    }

    // "packet" or "frame"; true: frames.
    bool noun(bool several) {
        const std::string_view end = several ? "s" : "";
        for (const std::string_view word : {"packet", "frame"})
            if (word_.text.starts_with(word) && word_.text.substr(word.size()) == end) {
                take();
                return word == "frame";
            }
        refuse(fmt::format("'packet{}' or 'frame{}' belongs here{}", end, end, instead()));
    }

    // 1st, 2nd, 3rd, 4th, 11th, 12th, 13th, 21st, ...
    static std::string_view ordinal_end(std::uint64_t number) {
        constexpr std::array<std::string_view, 4> ends{"th", "st", "nd", "rd"};
        const bool is_teen = number / 10 % 10 == 1;
        return ends.at(is_teen || number % 10 > 3 ? 0 : number % 10);
    }

    std::uint64_t ordinal() {
        const Word word = take();
        if (word.text == "first")
            return 1;
        const auto read = number_and_rest<std::uint64_t>(word.text);
        if (!read || read->second != ordinal_end(read->first) || read->first == 0 ||
            read->first > most_packets)
            refuse(word, fmt::format("'{}' is no number of a packet: 1st, 2nd, 3rd, 4th, ...",
                                     word.text));
        return read->first;
    }

    std::uint64_t count(std::string_view of, std::uint64_t low, std::uint64_t high) {
        const Word word = take();
        const auto read = number_and_rest<std::uint64_t>(word.text);
        if (!read || !read->second.empty() || read->first < low || read->first > high)
            refuse(word, fmt::format("{}: a number from {} to {} belongs here, not '{}'", of, low,
                                     high, word.text));
        return read->first;
    }

    std::uint64_t value(const Word& word, std::uint64_t most) const {
        const bool hex = word.text.starts_with("0x");
        const std::string_view digits = word.text.substr(hex ? 2 : 0);
        std::uint64_t value = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
        if (error != std::errc{} || end != digits.data() + digits.size() || value > most)
            refuse(word,
                   fmt::format("a value from 0 to {:#x} belongs here, not '{}'", most, word.text));
        return value;
    }

    double share() {
        const Word word = take();
        const auto read = number_and_rest<double>(word.text);
        if (!read || read->second != "%" || !(read->first >= 0 && read->first <= 100))
            refuse(word, fmt::format("a share from 0% to 100% belongs here, not '{}'", word.text));
        return read->first / 100;
    }

    Nanoseconds time() {
        const Word word = take();
        const auto read = number_and_rest<double>(word.text);
        constexpr auto units = std::to_array<std::pair<std::string_view, double>>(
            {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}});
        for (const auto& [unit, scale] : units)
            if (read && read->second == unit && read->first > 0 &&
                read->first * scale <= static_cast<double>(longest.count()))
                return Nanoseconds(std::llround(read->first * scale));
        refuse(word,
               fmt::format("a time like 200us, 20ms or 1s, at most 60s, belongs here, not '{}'",
                           word.text));
    }

    std::uint64_t rate() {
        const Word word = take();
        const auto read = number_and_rest<double>(word.text);
        constexpr auto units = std::to_array<std::pair<std::string_view, double>>(
            {{"kbit/s", 1e3}, {"Mbit/s", 1e6}, {"Gbit/s", 1e9}});
        for (const auto& [unit, scale] : units)
            if (read && read->second == unit && read->first * scale >= 1e3 &&
                read->first * scale <= 1e12)
                return static_cast<std::uint64_t>(read->first * scale);
        refuse(word,
               fmt::format("a rate like 500kbit/s, 10Mbit/s or 1Gbit/s belongs here, not '{}'",
                           word.text));
    }

    std::string host() {
        const Word word = take();
        if (std::ranges::find(hosts_, word.text) == hosts_.end())
            refuse(word,
                   fmt::format("there is no host '{}': {}", word.text, fmt::join(hosts_, ", ")));
        return std::string(word.text);
    }

    std::string_view text_;
    const std::vector<std::string>& hosts_;
    Word word_;
};

// Where a comment begins, or the line's end.
std::size_t comment_at(std::string_view line) {
    char quote = 0;
    for (std::size_t at = 0; at < line.size(); ++at) {
        if (quote != 0)
            quote = line[at] == quote ? '\0' : quote;
        else if (line[at] == '"' || line[at] == '\'')
            quote = line[at];
        else if (line[at] == '#' && (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t'))
            return at;
    }
    return line.size();
}

}  // namespace

std::string_view name_of(const Action& action) {
    return names.at(action.index());
}

Rule parse_rule(std::string_view text, const std::vector<std::string>& hosts) {
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    const std::string_view kept = text.substr(0, end == std::string_view::npos ? 0 : end + 1);
    return Parser(kept.substr(std::min(kept.find_first_not_of(" \t"), kept.size())), hosts).parse();
}

std::vector<Rule> parse_rules(std::string_view text, const std::vector<std::string>& hosts) {
    std::vector<Rule> rules;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::string_view rule = line.substr(0, comment_at(line));
        if (rule.find_first_not_of(" \t\r") == std::string_view::npos)
            continue;
        try {
            rules.push_back(parse_rule(rule, hosts));
        } catch (const SyntaxError& error) {
            throw util::Error(fmt::format("line {}: {}", number, error.what()));
        }
    }
    return rules;
}

}  // namespace cable
