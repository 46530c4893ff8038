// The words of a display filter, for its parser only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace filter {

struct Token {
    enum class Kind : std::uint8_t { Word, Quoted, Symbol, End };

    Kind kind = Kind::End;
    std::string_view text;   ///< as it stands in the expression; of Quoted without the quotes
    std::size_t column = 1;  ///< from 1, in characters of UTF-8

    bool is(std::string_view word) const { return kind != Kind::Quoted && text == word; }
    std::size_t width() const;  ///< in characters, at least 1
};

/// One token at a time. A word is a run of letters, digits and _ . : / - where ".." ends it; what
/// it means is the parser's business.
class Lexer {
  public:
    /// `from`: the byte that the expression begins with, where more stands in front of it.
    explicit Lexer(std::string_view expression, std::size_t from = 0);

    /// Throws SyntaxError for a character that begins nothing and for quotes that do not end.
    Token next();

  private:
    Token take(Token::Kind kind, std::size_t length);

    std::string_view expression_;
    std::size_t at_ = 0;
    std::size_t column_ = 1;  // of at_
};

}  // namespace filter
