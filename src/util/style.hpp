// The colours of terminal listings. Packets and timeline events share one palette.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace util {

/// Role of a text; style.cpp has its colour.
enum class TextRole : std::uint8_t {
    Plain,
    Dim,         ///< numbers, times, and other secondary text
    Request,     ///< packets from requester to responder
    Response,    ///< packets from responder to requester
    Connection,  ///< the connection manager's messages
    Notice,      ///< congestion marks, RNR NAKs, a truncated capture
    Bad,         ///< NAKs, a bad ICRC, malformed packets
    Server,      ///< an event of the server program
    Client,
};

class TextStyle {
  public:
    /// Without colour, text is unchanged.
    constexpr explicit TextStyle(bool colour = false) : colour_(colour) {}

    bool colour() const { return colour_; }
    std::string operator()(TextRole role, std::string_view text) const;

    /// The escape sequences before and after a text of this role, which must not be empty.
    std::string_view before(TextRole role) const { return colour_ ? sequence(role) : ""; }
    std::string_view after(TextRole role) const {
        return before(role).empty() ? std::string_view() : "\033[0m";
    }
    friend bool operator==(const TextStyle&, const TextStyle&) = default;

  private:
    static std::string_view sequence(TextRole role);

    bool colour_;
};

/// Number of terminal columns of `text`: UTF-8 characters, without escape sequences.
std::size_t display_width(std::string_view text);

/// Pads `text` with spaces to `width` columns.
std::string padded(std::string_view text, std::size_t width);

/// Breaks `text` at spaces into lines of at most `width` columns, unless a word is longer. All
/// lines but the first begin with `indent` spaces. No limit if `width` is not larger than `indent`.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

/// The same for text that begins in column `indent` of its line, behind a label.
std::string continued(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace util
