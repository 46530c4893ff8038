// Logs every verbs and rdma_cm call of this program in its run log, as rocetrace does for any program
// (docs/tracing.md): the calls go through the functions of src/interpose, which a lesson is linked
// with. So a lesson has no logging between its verbs.
#pragma once

#include "examples/common/program.hpp"

namespace common {

/// `run` with its calls logged. A program that rocetrace(1) runs leaves it to rocetrace.
common::CommandLine::Run traced(common::CommandLine::Run run);

}  // namespace common
