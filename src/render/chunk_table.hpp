// The chunks that the ranks of a job sent in each all_reduce.
#pragma once

#include <string>

#include "trace/timeline/matcher.hpp"

namespace render {

/// One line per chunk, by all_reduce and step, with its PSNs unless the log hides them, and with the
/// time from post to completion. Empty if the logs have no all_reduce of known ranks.
std::string chunk_table(const timeline::Matcher& run);

}  // namespace render
