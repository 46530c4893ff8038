// The text of an event: a pattern of literal text, and {key} or {key:form} for fields. Form x is
// hexadecimal, 6 and 8 are hexadecimal with that many digits, w is the first word of a text. A part
// in [brackets] is left out if one of its fields is missing.
#pragma once

#include <span>
#include <string_view>

namespace runlog {

struct TextRow {
    std::string_view event;
    std::string_view pattern;
};

/// The events that only one lesson writes: examples/NN_name/events, embedded at build time
/// (src/runlog/lesson_events).
extern const std::span<const TextRow> lesson_rows;

}  // namespace runlog
