// Keys of remotely accessible memory, and the first PSNs of connections.
#pragma once

#include <string>
#include <vector>

#include "render/page/archive.hpp"
#include "render/page/rows.hpp"
#include "trace/timeline/capability.hpp"
#include "trace/timeline/finished_run.hpp"
#include "trace/timeline/first_psn.hpp"
#include "util/json.hpp"

namespace page {

/// [{"owner", "va", "length", "rkey", "access", "learned": [{"who", "t", "how", "frame", "row"}]}]
util::Json capabilities_json(const std::vector<timeline::Capability>& capabilities,
                             const Rows& rows, const timeline::FinishedRun& run);

/// [{"direction", "psn", "chosen_by", "readable": [{"where", "frames"}]}]
util::Json first_psns_json(const timeline::FirstPsns& found);

}  // namespace page
