// Checks of what stands behind an option, with the sentence a person should read: CLI11's own take
// "-1" for a large count and "nan" for a duration.
#pragma once

#include <CLI/CLI.hpp>

namespace rocecap {

/// A whole number from 1 up, of at most 64 bits.
CLI::Validator is_count();

/// A number of seconds from 0 to 10^8, three years.
CLI::Validator is_duration();

}  // namespace rocecap
