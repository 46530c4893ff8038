// The display filter: an expression over decoded fields.
//
//   expression   comparisons with and, or, not (also &&, ||, !) and parentheses; not binds tightest
//   comparison   FIELD                        the packet has it; true even for a flag of 0
//                FIELD == VALUE               also !=, <, <=, >, >= (and eq, ne, lt, le, gt, ge)
//                FIELD in VALUE..VALUE        ends are inclusive; PSNs may wrap through zero
//                FIELD in {VALUE, V..V, ...}
//                FIELD contains "text"        text; for bytes, hexadecimal digits
//   VALUE        1234, 0x4d2, 1.5, true, 192.0.2.1, 192.0.2.0/24, 2001:db8::/32, aa:bb:..., a word,
//                "text"
//   FIELD        see field.hpp; ip.addr, ipv6.addr, eth.addr, udp.port: either direction; with !=
//                neither direction
//
// A comparison with a field that the packet does not have is false, also with !=.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "filter/field.hpp"
#include "util/error.hpp"
#include "util/printable.hpp"

namespace filter {

/// An invalid expression. what() is one sentence with the column.
class SyntaxError : public util::Error {
  public:
    SyntaxError(const std::string& sentence, std::size_t column, std::size_t width,
                std::string_view expression = {})
        : util::Error(util::printable(sentence)),
          column_(column),
          width_(width),
          expression_(expression) {}

    /// Column of the offending part, from 1, in UTF-8 characters.
    std::size_t column() const { return column_; }
    std::size_t width() const { return width_; }  ///< of that part, at least 1

    /// Returns the expression with marks below the offending part, in two lines, for a terminal.
    /// Empty for an empty expression.
    std::string marked() const;

  private:
    std::size_t column_;
    std::size_t width_;
    std::string expression_;
};

class Where {
  public:
    /// Parses `text` from byte `from` on; the first character of `text` is column 1. Throws
    /// SyntaxError. Parentheses and nots may nest 100 deep.
    static Where parse(std::string_view text, std::size_t from = 0);
    Where(Where&&) noexcept;
    Where& operator=(Where&&) noexcept;
    Where(const Where&) = delete;
    Where& operator=(const Where&) = delete;
    ~Where();

    bool matches(const View& view) const;
    /// Whether packets must be decoded with their ICRC computed.
    bool needs_icrc() const;
    /// Whether a field requires View::upper.
    bool needs_connection() const;

  private:
    struct Program;
    explicit Where(std::unique_ptr<const Program> program);

    std::unique_ptr<const Program> program_;
};

}  // namespace filter
