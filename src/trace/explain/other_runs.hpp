// Logs of another run than the captured one.
#pragma once

#include <vector>

#include "trace/explain/cause.hpp"
#include "trace/explain/clocks.hpp"
#include "trace/explain/direction.hpp"
#include "trace/explain/logs.hpp"

namespace explain {

/// `offsets`: clock_offsets(). `capture`: the times of its packets.
std::vector<OtherRun> other_runs(const Directions& directions, const Logs& logs,
                                 const Offsets& offsets, const Period& capture);

}  // namespace explain
