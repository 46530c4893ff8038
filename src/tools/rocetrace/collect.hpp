// The time from the program's start to the end of all that it started.
#pragma once

#include <string>
#include <vector>

#include "tools/rocetrace/collector.hpp"
#include "tools/rocetrace/launch.hpp"
#include "tools/rocetrace/program_output.hpp"

namespace rocetrace {

/// Collects until the program and all traced processes that it started have ended, or a signal asks
/// to end. `outputs`: the program's streams whose lines become events, of `role`.
void collect(Collector& collector, Child& child, std::vector<ProgramOutput>& outputs,
             const std::string& role);

/// Prints what is missing in the log of `program`, and why.
void tell_result(const Collector& collector, const std::string& program);

}  // namespace rocetrace
