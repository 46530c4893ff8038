// rocecap timeline --follow: a run in progress.
#pragma once

#include <cstdint>
#include <string>

#include "tools/rocecap/command.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "trace/timeline/matcher.hpp"
#include "trace/timeline/trace_files.hpp"

namespace rocecap {

/// Lists a run until it ends.
void follow(timeline::TraceFiles files, const Context& context);

/// Lists a run that has ended, as rocecap timeline does.
void list_run(const TraceArguments& trace, const Context& context);

/// The lines below a listing.
std::string end_of_listing(bool has_capture, bool has_logs, const timeline::Matcher& run,
                           const std::string& damage, std::uint64_t skipped_lines);

}  // namespace rocecap
