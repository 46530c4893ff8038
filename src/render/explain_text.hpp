// What `rocecap explain` and `rocetrace --explain` print.
#pragma once

#include <string>

#include "trace/explain/cause.hpp"
#include "util/style.hpp"

namespace render {

/// What there was to judge by.
struct ExplainContext {
    bool has_capture = false;
    std::size_t logs = 0;
    std::int64_t begin_ns = 0;  ///< of the capture, since 1970: what the times of frames count from
};

/// For people: each cause with its evidence and what to try, or that none is known. Lines of at
/// most 100 columns, but for values that are longer.
std::string explain_text(const explain::Explanation& explanation, const ExplainContext& context,
                         const util::TextStyle& style);

/// One JSON object (docs/rocecap.md), without a line feed.
std::string explain_json(const explain::Explanation& explanation, const ExplainContext& context);

}  // namespace render
