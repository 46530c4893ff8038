#include "filter/where.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "filter/comparison.hpp"
#include "util/style.hpp"

namespace filter {

enum class Logic : std::uint8_t { And, Or, Not, Leaf };

// A Leaf has a comparison, Not has one child, And and Or have two or more.
struct Node {
    Logic logic = Logic::Leaf;
    std::vector<Node> children;
    std::optional<Comparison> comparison;
};

namespace {

constexpr std::string_view empty_filter =
    "the filter is empty: write a condition, such as 'aeth.type == NAK'";

bool is_blank(std::string_view text) {
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool matches(const Node& node, const View& view) {
    const auto child_matches = [&](const Node& child) { return matches(child, view); };
    switch (node.logic) {
        case Logic::And:
            return std::ranges::all_of(node.children, child_matches);
        case Logic::Or:
            return std::ranges::any_of(node.children, child_matches);
        case Logic::Not:
            return !matches(node.children.front(), view);
        case Logic::Leaf:
            break;
    }
    return node.comparison->matches(view);
}

// Returns whether one of the fields has that need.
bool has_need(const Node& node, bool FieldExtra::*need) {
    if (node.logic == Logic::Leaf)
        return node.comparison->field().extra.*need;
    return std::ranges::any_of(node.children,
                               [&](const Node& child) { return has_need(child, need); });
}

// Returns "a number", "an IP address".
std::string described(Kind kind) {
    if (kind == Kind::Flag || kind == Kind::Text || kind == Kind::Bytes)
        return std::string(name(kind));
    return fmt::format("{} {}", name(kind).starts_with('I') ? "an" : "a", name(kind));
}

// One name for two fields, one per direction.
struct EitherField {
    std::string_view name;
    std::string_view one;
    std::string_view other;
};
constexpr auto either_fields = std::to_array<EitherField>({
    {"ip.addr", "ip.src", "ip.dst"},
    {"ipv6.addr", "ipv6.src", "ipv6.dst"},
    {"eth.addr", "eth.src", "eth.dst"},
    {"outer.addr", "outer.src", "outer.dst"},
    {"udp.port", "udp.srcport", "udp.dstport"},
    {"tcp.port", "tcp.srcport", "tcp.dstport"},
});

// Recursive descent, one function per level of the grammar in where.hpp.
class Parser {
  public:
    Parser(std::string_view text, std::size_t from) : lexer_(text, from), token_(lexer_.next()) {}

    Node parse() {
        if (token_.kind == Token::Kind::End)
            refuse(token_, std::string(empty_filter));
        Node node = either();
        if (token_.kind != Token::Kind::End)
            refuse(token_, fmt::format("'{}' is not expected here: join comparisons with and, or",
                                       token_.text));
        return node;
    }

  private:
    static constexpr int deepest = 100;

    Token take() { return std::exchange(token_, lexer_.next()); }

    bool take_if(std::string_view symbol, std::string_view word = {}) {
        const bool is = token_.is(symbol) || (!word.empty() && token_.is(word));
        if (is)
            take();
        return is;
    }

    Node either() {
        return joined(Logic::Or, "||", "or", [this] { return both(); });
    }
    Node both() {
        return joined(Logic::And, "&&", "and", [this] { return negation(); });
    }

    template <typename Operand>
    Node joined(Logic logic, std::string_view symbol, std::string_view word, Operand operand) {
        Node first = operand();
        if (!token_.is(symbol) && !token_.is(word))
            return first;
        Node node{logic, {}, {}};
        node.children.push_back(std::move(first));
        while (take_if(symbol, word))
            node.children.push_back(operand());
        return node;
    }

    Node negation() {
        if (depth_++ > deepest)
            refuse(token_, fmt::format("the filter has more than {} nested levels", deepest));
        Node node = take_if("!", "not") ? Node{Logic::Not, {}, {}} : Node();
        if (node.logic == Logic::Not)
            node.children.push_back(negation());
        else
            node = primary();
        --depth_;
        return node;
    }

    Node primary() {
        if (!take_if("("))
            return comparison();
        Node node = either();
        if (!take_if(")"))
            refuse(token_, "a parenthesis is not closed");
        return node;
    }

    Node comparison() {
        if (token_.kind != Token::Kind::Word)
            refuse(token_, token_.kind == Token::Kind::End
                               ? "the filter ends where a field is expected"
                               : fmt::format("a field is expected here, not '{}'", token_.text));
        const Token name = take();
        for (const EitherField& either : either_fields)
            if (name.text == either.name)
                return either_comparison(either);
        const Field* field = find_field(name.text);
        if (field == nullptr) {
            const std::string_view similar = similar_field(name.text);
            refuse(name,
                   fmt::format("there is no field '{}'{}", name.text,
                               similar.empty() ? std::string(": 'rocecap fields' lists them")
                                               : fmt::format(": did you mean '{}'?", similar)));
        }
        const Operator op = take_operator(*field);
        return leaf(*field, op, constants(*field, op));
    }

    // "ip.addr != X" means that neither address is X.
    Node either_comparison(const EitherField& either) {
        const Field& one = *find_field(either.one);
        const Operator op = take_operator(one);
        const auto values = constants(one, op);
        Node node{op == Operator::NotEqual ? Logic::And : Logic::Or, {}, {}};
        node.children.push_back(leaf(one, op, values));
        node.children.push_back(leaf(*find_field(either.other), op, values));
        return node;
    }

    static Node leaf(const Field& field, Operator op, std::vector<Range> constants) {
        return {Logic::Leaf, {}, Comparison(field, op, std::move(constants))};
    }

    Operator take_operator(const Field& field) {
        const auto op = operator_of(token_);
        if (!op) {
            if (token_.is("="))
                refuse(token_, "'=' is not an operator: write == for equality");
            return Operator::There;
        }
        if (!allows(field.kind, *op))
            refuse(token_, fmt::format("'{}' cannot be used with {}, which is {}", token_.text,
                                       field.name, described(field.kind)));
        take();
        return *op;
    }

    std::vector<Range> constants(const Field& field, Operator op) {
        std::vector<Range> all;
        if (op == Operator::There)
            return all;
        const bool is_set = op == Operator::In && take_if("{");
        do {
            if (is_set && token_.is("}"))
                refuse(token_, "a value is missing");
            const Token low = take_value(field);
            if (op == Operator::In && take_if(".."))
                all.push_back(parse_range(field, low, take_value(field)));
            else
                all.push_back(constant(field, op, low));
        } while (is_set && take_if(","));
        if (is_set && !take_if("}"))
            refuse(token_, "the set is not closed by '}'");
        return all;
    }

    // `contains` accepts any text, also for fields with a fixed set of words.
    static Range constant(const Field& field, Operator op, const Token& token) {
        if (op == Operator::Contains && field.kind == Kind::Text)
            return {token.text, token.text};
        Range range = parse_constant(field, token);
        if (range.prefix && op != Operator::Equal && op != Operator::NotEqual && op != Operator::In)
            refuse(token, "a network has no order: compare it with == or !=");
        return range;
    }

    Token take_value(const Field& field) {
        if (token_.kind == Token::Kind::End || token_.kind == Token::Kind::Symbol)
            refuse(token_, fmt::format("a value for {} is missing", field.name));
        return take();
    }

    Lexer lexer_;
    Token token_;
    int depth_ = 0;
};

}  // namespace

// Counts one column per character; characters that move the cursor become blanks.
namespace {

// Columns of the first `characters` of `text`, including escapes for unprintable ones.
std::size_t shown_width(std::string_view text, std::size_t characters) {
    std::size_t end = 0;
    for (; end < text.size(); ++end)
        if ((static_cast<unsigned char>(text[end]) & 0xc0U) != 0x80 && characters-- == 0)
            break;
    return util::display_width(util::printable(text.substr(0, end)));
}

}  // namespace

std::string SyntaxError::marked() const {
    if (is_blank(expression_))
        return {};
    const std::size_t before = shown_width(expression_, column_ - 1);
    const std::size_t end = shown_width(expression_, column_ - 1 + width_);
    return fmt::format("  {}\n  {:>{}}{:~>{}}\n", util::printable(expression_), "^", before + 1, "",
                       std::max(end, before + 1) - before - 1);
}

// The constants point into the expression.
struct Where::Program {
    std::string expression;
    Node root;
};

Where Where::parse(std::string_view text, std::size_t from) {
    if (is_blank(text))
        throw SyntaxError(std::string(empty_filter), 1, 1, text);
    auto program = std::make_unique<Program>(Program{std::string(text), {}});
    try {
        program->root = Parser(program->expression, from).parse();
    } catch (const SyntaxError& error) {
        throw SyntaxError(error.what(), error.column(), error.width(), text);
    }
    return Where(std::move(program));
}

Where::Where(std::unique_ptr<const Program> program) : program_(std::move(program)) {}
Where::Where(Where&&) noexcept = default;
Where& Where::operator=(Where&&) noexcept = default;
Where::~Where() = default;

bool Where::matches(const View& view) const {
    return filter::matches(program_->root, view);
}

bool Where::needs_icrc() const {
    return has_need(program_->root, &FieldExtra::needs_icrc);
}

bool Where::needs_connection() const {
    return has_need(program_->root, &FieldExtra::needs_connection);
}

}  // namespace filter
