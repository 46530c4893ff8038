// Parses docs/wire-format.md: packets as hex dumps, and tables.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace support {

using Cells = std::vector<std::string>;

struct Table {
    std::string caption;   ///< the last line of text before it
    std::size_t line = 0;  ///< of the header, from 1
    Cells header;
    std::vector<Cells> rows;

    /// The header's cells in one string: "code | reason".
    std::string head() const;
};

struct Range {
    std::size_t low = 0;
    std::size_t high = 0;
};

/// "12-15", "7-0" or "4"; nullopt for anything else.
std::optional<Range> range_of(std::string_view text);

/// Splits a text at the marks between its parts.
class Cutter {
  public:
    explicit Cutter(std::string_view text) : rest_(text) {}

    /// Returns the text before `mark`, and skips the mark. Without a mark, fails and returns the
    /// rest.
    std::string until(std::string_view mark);
    /// Whether all marks were found, and no text is left.
    bool is_done() const { return !failed_ && rest_.empty(); }

  private:
    std::string_view rest_;
    bool failed_ = false;
};

struct WireDocument {
    std::string text;
    /// Keyed by the name in "Packet `name`: ..." before the dump.
    std::map<std::string, std::vector<std::byte>> packets;
    /// The bytes after "Masked `name`:".
    std::map<std::string, std::vector<std::byte>> masked;
    std::vector<Table> tables;

    /// The tables with this header.
    std::vector<const Table*> with_head(std::string_view head) const;
};

/// Throws std::runtime_error, with the line, if the offsets of a dump do not fit its bytes.
const WireDocument& wire_document();

}  // namespace support
