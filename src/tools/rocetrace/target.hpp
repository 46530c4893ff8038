// Detects, from a program's file, why its calls cannot be traced.
#pragma once

#include <optional>
#include <string>

namespace rocetrace {

/// The file that execvp() would run; empty if there is none.
std::string find_program(const std::string& name);

/// Why the library cannot be loaded into the program, as a sentence without its full stop; nullopt
/// if no reason is known.
std::optional<std::string> why_invisible(const std::string& path);

}  // namespace rocetrace
