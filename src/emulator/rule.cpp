#include "emulator/rule.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emulator/rule_words.hpp"
#include "filter/field.hpp"

namespace emulator {
namespace {

using filter::SyntaxError;

constexpr std::array<std::string_view, std::variant_size_v<Action>> names{
    "drop", "duplicate", "delay", "reorder", "corrupt", "set", "mark", "cut", "limit"};

class Parser : private RuleWords {
  public:
    Parser(std::string_view text, const std::vector<std::string>& hosts)
        : RuleWords(text), hosts_(hosts) {}

    Rule parse() {
        Rule rule{std::string(text()), action(), {}, false, {}, {}, std::nullopt};
        which(rule);
        if (take_if("from"))
            rule.from = host();
        if (take_if("to"))
            rule.to = host();
        if (word().text == "where")
            rule.where = condition();
        else if (!word().text.empty())
            refuse(fmt::format(
                "'{}' is not expected here: a rule continues with from HOST, to HOST or "
                "where EXPRESSION",
                word().text));
        return rule;
    }

  private:
    // The link emulator does not track connections, so a field that needs one would never exist.
    filter::Where condition() {
        const Word where = word();
        auto condition = filter::Where::parse(text(), where.at + where.text.size());
        if (condition.needs_connection())
            refuse(where,
                   "a rule cannot use a field of the layer above RDMA, such as nvme.cmd.opc: "
                   "compare bth or reth fields");
        return condition;
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
                       fmt::format("a rule begins with an action: {}{}", fmt::join(names, ", "),
                                   word.text.empty() ? std::string()
                                                     : fmt::format(", not '{}'", word.text)));
        }
    }

    Duplicate duplicate() {
        Duplicate action;
        const bool is_share = word().text.ends_with('%');  // of the packets
        if (is_number() && !is_share) {
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
        action.value = value(action.field->get.place.most());
        action.icrc = icrc(action.icrc);
        return action;
    }

    static std::string not_writable(std::string_view name) {
        if (filter::find_field(name) != nullptr)
            return fmt::format(
                "'{}' cannot be set: rocewire fields lists the fields that can be set", name);
        return fmt::format(
            "there is no field '{}': rocewire fields lists the fields that can be set", name);
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
        const bool good = word().text == "good";
        if (!good && word().text != "bad")
            refuse(
                fmt::format("'with good icrc' or 'with bad icrc' is expected here{}", instead()));
        take();
        expect("icrc");
        return good ? wire::IcrcAfter::Good : wire::IcrcAfter::Left;
    }

    void which(Rule& rule) {
        Which& which = rule.which;
        if (take_if("the") && !word().text.starts_with("packets")) {
            which.kind = Which::Kind::Range;
            which.first = which.last = ordinal();
            rule.any_frame = noun(false);
        } else if (take_if("every") || take_if("each")) {
            if (is_number()) {
                which.kind = Which::Kind::Every;
                which.every = ordinal();
            }
            rule.any_frame = noun(false);
        } else if (take_if("any")) {
            rule.any_frame = noun(false);
        } else if (is_number()) {
            which.kind = Which::Kind::Share;
            which.share = share();
            if (!take_if("of"))
                refuse(fmt::format("'of packets' is expected here, as in '2% of packets'{}",
                                   instead()));
            rule.any_frame = all();
            if (take_if("seed"))
                which.seed = count("the seed", 0, UINT64_MAX);
        } else {
            rule.any_frame = all();
            if (is_number())
                range(which);
        }
    }

    bool all() {
        take_if("all");
        take_if("the");
        return noun(true);
    }

    void range(Which& which) {
        which.kind = Which::Kind::Range;
        which.first = count("the first packet", 1, most_packets);
        expect("to");
        const Word last = word();
        which.last = count("the last packet", 1, most_packets);
        if (which.last < which.first)
            refuse(
                last,
                fmt::format("packets {} to {} are not a valid range: give the smaller number first",
                            which.first, which.last));
    }

    // Reads "packet" or "frame". Returns true for frames.
    bool noun(bool several) {
        const std::string_view end = several ? "s" : "";
        for (const std::string_view stem : {"packet", "frame"})
            if (word().text.starts_with(stem) && word().text.substr(stem.size()) == end) {
                take();
                return stem == "frame";
            }
        refuse(fmt::format("'packet{}' or 'frame{}' is expected here{}", end, end, instead()));
    }

    std::string host() {
        const Word word = take();
        if (std::ranges::find(hosts_, word.text) == hosts_.end())
            refuse(word,
                   fmt::format("there is no host '{}': {}", word.text, fmt::join(hosts_, ", ")));
        return std::string(word.text);
    }

    const std::vector<std::string>& hosts_;
};

// Returns the offset of the comment, or the line's length if it has none.
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

}  // namespace emulator
