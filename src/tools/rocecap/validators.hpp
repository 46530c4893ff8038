// Validators for option arguments, with a clear error message: CLI11's own ones accept "-1" as a
// large count and "nan" as a duration.
#pragma once

#include <CLI/CLI.hpp>

namespace rocecap {

/// A whole number from 1 up, of at most 64 bits.
CLI::Validator is_count();

/// A number of seconds from 0 to 10^8, three years.
CLI::Validator is_duration();

}  // namespace rocecap
