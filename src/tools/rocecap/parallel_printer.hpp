// Prints a capture file on several CPUs. Nothing else in the decoder has threads.
#pragma once

#include <cstdint>

#include "capture/file_source.hpp"
#include "tools/rocecap/printer.hpp"

namespace rocecap {

/// Number of CPUs that this process may use.
unsigned usable_cpus();

/// Prints the frames of `source` until `printer` has printed `count`, with one thread for each CPU.
/// What it writes and throws is what Printer::print() would, one frame after the other. At least one
/// frame must have been printed before.
void print_in_parallel(unsigned cpus, capture::FileSource& source, Printer& printer,
                       std::uint64_t count);

}  // namespace rocecap
