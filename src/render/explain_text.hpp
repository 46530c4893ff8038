// Output of `rocecap explain` and `rocetrace --explain`.
#pragma once

#include <string>

#include "trace/explain/cause.hpp"
#include "util/style.hpp"

namespace render {

/// The input that the explanation is based on.
struct ExplainContext {
    bool has_capture = false;
    std::size_t logs = 0;
    bool shows_why = false;     ///< also what the data exclude
    std::int64_t begin_ns = 0;  ///< start of the capture, since 1970; frame times count from it
};

/// Text: each cause with its evidence and what to try, or that no cause is known. Lines have at
/// most 100 columns, unless a value is longer.
std::string explain_text(const explain::Explanation& explanation, const ExplainContext& context,
                         const util::TextStyle& style);

/// One JSON object (docs/rocecap.md), without a line feed.
std::string explain_json(const explain::Explanation& explanation, const ExplainContext& context);

}  // namespace render
