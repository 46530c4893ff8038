// Makes text from files, peers and users safe to print: it cannot control a terminal, reorder the
// text around it, or be invisible.
// Source: ECMA-48 (control functions), Unicode 15 chapter 23 (special areas and format characters).
#pragma once

#include <string>
#include <string_view>

namespace util {

/// Returns `text` with visible escapes: "\n", "\r", "\t", "\x1b" for other control characters below
/// U+0020, "\u202e" for DEL, C1 controls (U+0080 to U+009F) and invisible or bidirectional format
/// characters, and "\xff" for a byte that is not part of valid UTF-8. Backslashes are not escaped,
/// so that escaping twice changes nothing.
std::string printable(std::string_view text);

/// The same for whole lines: also keeps line feeds, tabs and colours (SGR sequences, "\x1b[1;31m").
std::string printable_lines(std::string_view text);
/// Whether printable_lines(text) is `text` itself.
bool are_printable_lines(std::string_view text);

/// Writes printable_lines(text) to standard error.
void print_error(std::string_view text);

/// Writes "program: sentence." to standard error. `sentence` may end with the full stop or without.
void complain(std::string_view program, std::string_view sentence);

}  // namespace util
