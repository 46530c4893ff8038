// Tokens of a display filter, for its parser only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace filter {

struct Token {
    enum class Kind : std::uint8_t { Word, Quoted, Symbol, End };

    Kind kind = Kind::End;
    std::string_view text;   ///< as in the expression; without the quotes if Quoted
    std::size_t column = 1;  ///< from 1, in UTF-8 characters

    bool is(std::string_view word) const { return kind != Kind::Quoted && text == word; }
    std::size_t width() const;  ///< in characters, at least 1
};

/// Throws SyntaxError with the token's column.
[[noreturn]] void refuse(const Token& token, const std::string& why);

/// Returns one token at a time. A word is a run of letters, digits and _ . : / - and ends before
/// ".."; the parser interprets it.
class Lexer {
  public:
    /// `from`: the byte where the expression begins, if other text precedes it.
    explicit Lexer(std::string_view expression, std::size_t from = 0);

    /// Throws SyntaxError for a character that begins no token and for unclosed quotes.
    Token next();

  private:
    Token take(Token::Kind kind, std::size_t length);

    std::string_view expression_;
    std::size_t at_ = 0;
    std::size_t column_ = 1;  // of at_
};

}  // namespace filter
