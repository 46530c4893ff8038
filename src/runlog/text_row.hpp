// How an event reads: a pattern of literal text, and of {key} or {key:form} where a field goes. The
// form x is hexadecimal, 6 and 8 are hexadecimal with so many digits, w is the first word of a text.
// A part in [brackets] is left out when one of its fields is missing.
#pragma once

#include <span>
#include <string_view>

namespace runlog {

struct TextRow {
    std::string_view event;
    std::string_view pattern;
};

/// The events that only one lesson writes: examples/NN_name/events, put into the program when it is
/// built (src/runlog/lesson_events).
extern const std::span<const TextRow> lesson_rows;

}  // namespace runlog
