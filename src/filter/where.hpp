// The display filter: an expression over decoded fields.
//
//   expression   comparisons with and, or, not (also &&, ||, !) and parentheses; not binds tightest
//   comparison   FIELD                        the packet has it, a flag also where it is 0
//                FIELD == VALUE               also !=, <, <=, >, >= (and eq, ne, lt, le, gt, ge)
//                FIELD in VALUE..VALUE        both ends belong to it; PSNs may pass zero
//                FIELD in {VALUE, V..V, ...}
//                FIELD contains "text"        text, and hexadecimal digits of bytes
//   VALUE        1234, 0x4d2, 1.5, true, 192.0.2.1, 192.0.2.0/24, 2001:db8::/32, aa:bb:..., a word,
//                "text"
//   FIELD        field.hpp, and ip.addr, ipv6.addr, eth.addr, udp.port: either direction's; with !=
//                neither's
//
// A comparison with a field that the packet does not have is false, != included.
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

    /// Of the offending part, from 1, in characters of UTF-8.
    std::size_t column() const { return column_; }
    std::size_t width() const { return width_; }  ///< of it, at least 1

    /// The expression, and below it marks under the offending part; two lines, for a terminal.
    /// Nothing for an empty one.
    std::string marked() const;

  private:
    std::size_t column_;
    std::size_t width_;
    std::string expression_;
};

class Where {
  public:
    /// The expression begins with byte `from` of `text`, whose first character is column 1. Throws
    /// SyntaxError. Parentheses and nots may nest 100 deep.
    static Where parse(std::string_view text, std::size_t from = 0);
    Where(Where&&) noexcept;
    Where& operator=(Where&&) noexcept;
    Where(const Where&) = delete;
    Where& operator=(const Where&) = delete;
    ~Where();

    bool matches(const View& view) const;
    /// Whether the packets must be decoded with their ICRC computed.
    bool needs_icrc() const;
    /// Whether View::upper must be there for a field.
    bool needs_connection() const;

  private:
    struct Program;
    explicit Where(std::unique_ptr<const Program> program);

    std::unique_ptr<const Program> program_;
};

}  // namespace filter
