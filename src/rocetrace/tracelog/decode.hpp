// Records of a traced process as run log events (docs/run-log.md).
#pragma once

#include <optional>
#include <span>
#include <string>

#include "rocetrace/tracelog/record.hpp"
#include "runlog/event.hpp"

namespace tracelog {

/// The process and thread that wrote a record.
struct Writer {
    std::uint32_t pid = 0;
    std::uint32_t tid = 0;
};

/// The record as an event with `role`, its fields, and then `pid` and `tid`. `record` must have the
/// size that its header has. nullopt if it is invalid, or is not an event.
std::optional<runlog::Event> decode(std::span<const std::byte> record, const std::string& role,
                                    const Writer& writer);

/// Records as JSON lines: the same text as to_json(*decode(...)) and a line feed, for a record of
/// the data path in a tenth of the time.
class JsonRenderer {
  public:
    explicit JsonRenderer(std::string role);

    /// Returns false and appends nothing if decode() has no event.
    bool append(std::string& out, std::span<const std::byte> record, const Writer& writer) const;

  private:
    std::string role_;
    std::string quoted_role_;
};

}  // namespace tracelog
