// The two ends of faulty. Each returns 0 within its time limit, whether or not the fault occurs; a
// line "result: ..." reports what happened. Both throw util::Error or std::system_error if a call
// fails, except for requests.
#pragma once

#include "runlog/log.hpp"
#include "tests/faults/options.hpp"
#include "util/stop_signal.hpp"

namespace faults {

int run_client(const ClientOptions& options, runlog::Log& log, util::StopSignal& stop);
int run_server(const ServerOptions& options, runlog::Log& log, util::StopSignal& stop);

}  // namespace faults
