#include "filter/lexer.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "filter/where.hpp"
#include "util/utf8.hpp"

namespace filter {
namespace {

constexpr auto symbols = std::to_array<std::string_view>(
    {"==", "!=", "<=", ">=", "&&", "||", "..", "=", "<", ">", "!", "(", ")", "{", "}", ","});

// Unlike isalnum(), independent of the locale.
bool is_word_character(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("_.:/-").find(c) != std::string_view::npos;
}

std::string shown(char c) {
    return c >= ' ' && c <= '~' ? fmt::format("'{}'", c)
                                : fmt::format("byte 0x{:02x}", static_cast<unsigned char>(c));
}

}  // namespace

std::size_t Token::width() const {
    constexpr std::size_t quotes = 2;
    return std::max<std::size_t>(1, util::characters(text) + (kind == Kind::Quoted ? quotes : 0));
}

void refuse(const Token& token, const std::string& why) {
    throw SyntaxError(fmt::format("{} (column {})", why, token.column), token.column,
                      token.width());
}

Lexer::Lexer(std::string_view expression, std::size_t from)
    : expression_(expression),
      at_(from),
      column_(1 + util::characters(expression.substr(0, from))) {}

Token Lexer::take(Token::Kind kind, std::size_t length) {
    const Token token{kind, expression_.substr(at_, length), column_};
    at_ += length;
    column_ += util::characters(token.text);
    return token;
}

Token Lexer::next() {
    const std::size_t begin =
        std::min(expression_.find_first_not_of(" \t\n", at_), expression_.size());
    column_ += begin - at_;
    at_ = begin;
    const std::string_view rest = expression_.substr(at_);
    if (rest.empty())
        return take(Token::Kind::End, 0);
    if (rest.front() == '"' || rest.front() == '\'') {
        const auto end = rest.find(rest.front(), 1);
        if (end == std::string_view::npos)
            throw SyntaxError(fmt::format("the quotes at column {} are not closed", column_),
                              column_, util::characters(rest));
        Token token = take(Token::Kind::Quoted, end + 1);
        token.text = rest.substr(1, end - 1);
        return token;
    }
    for (const std::string_view symbol : symbols)
        if (rest.starts_with(symbol))
            return take(Token::Kind::Symbol, symbol.size());
    std::size_t length = 0;
    while (length < rest.size() && is_word_character(rest[length]) &&
           !rest.substr(length).starts_with(".."))
        ++length;
    if (length == 0)
        throw SyntaxError(
            fmt::format("{} at column {} is not valid in a filter", shown(rest.front()), column_),
            column_, 1);
    return take(Token::Kind::Word, length);
}

}  // namespace filter
