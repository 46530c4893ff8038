// The colours of a terminal listing: packets and the timeline's events share one palette.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace util {

/// What a piece of text is; style.cpp says how that looks.
enum class TextRole : std::uint8_t {
    Plain,
    Dim,         ///< numbers, times, what a reader skips first
    Request,     ///< packets from requester to responder
    Response,    ///< and back
    Connection,  ///< the connection manager's messages
    Notice,      ///< congestion marks, RNR NAKs, a cut capture: worth a look
    Bad,         ///< NAKs, a wrong ICRC, malformed packets
    Server,      ///< an event of the server's program
    Client,
};

class TextStyle {
  public:
    /// Without colour every text stays as it is.
    constexpr explicit TextStyle(bool colour = false) : colour_(colour) {}

    bool colour() const { return colour_; }
    std::string operator()(TextRole role, std::string_view text) const;

    /// What stands before and behind a text of this role; text between them must not be empty.
    void begin(std::string& out, TextRole role) const;
    void end(std::string& out, TextRole role) const;

  private:
    bool colour_;
};

/// Columns that `text` takes in a terminal: UTF-8 characters, where escape sequences count nothing.
std::size_t display_width(std::string_view text);

/// `text` with spaces behind it up to `width` columns.
std::string padded(std::string_view text, std::size_t width);

/// `text` broken at spaces into lines of at most `width` columns, where a word allows it; all but
/// the first begin with `indent` spaces. No limit where `width` leaves nothing beside them.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace util
