// Who knows what: memory that may be reached, and the PSNs that connections began with.
#pragma once

#include <string>
#include <vector>

#include "page/archive.hpp"
#include "page/rows.hpp"
#include "timeline/capability.hpp"
#include "timeline/finished_run.hpp"

namespace page {

/// [{"owner", "va", "length", "rkey", "access", "learned": [{"who", "t", "how", "frame", "row"}]}]
Json capabilities_json(const std::vector<timeline::Capability>& capabilities, const Rows& rows,
                       const timeline::FinishedRun& run);

/// [{"direction", "psn", "chosen_by", "readable": [{"where", "frames"}]}]
Json first_psns_json(const timeline::TraceFiles& files);

}  // namespace page
