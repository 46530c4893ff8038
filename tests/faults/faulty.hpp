// The two ends of faulty. Each ends within its time limit and returns 0, whether or not the fault
// shows; a line "result: ..." says what happened. Both throw util::Error, std::system_error where a
// call fails that is no request.
#pragma once

#include "runlog/log.hpp"
#include "tests/faults/options.hpp"
#include "util/stop_signal.hpp"

namespace faults {

int run_client(const ClientOptions& options, runlog::Log& log, util::StopSignal& stop);
int run_server(const ServerOptions& options, runlog::Log& log, util::StopSignal& stop);

}  // namespace faults
