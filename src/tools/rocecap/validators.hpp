// Validators for option arguments, with a clear error message: CLI11's own ones accept "-1" as a
// large count and "nan" as a duration.
#pragma once

#include <cstdint>

#include <CLI/CLI.hpp>

namespace rocecap {

/// Adds an option whose argument N is a whole number from 1 up, of at most 64 bits.
CLI::Option* add_count_option(CLI::App& command, const char* names, std::uint64_t& count,
                              const char* help);

/// A number of seconds from 0 to 10^8, three years.
CLI::Validator is_duration();

}  // namespace rocecap
