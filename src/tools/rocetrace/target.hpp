// Detects, from a program's file, why its calls cannot be traced.
#pragma once

#include <optional>
#include <string>

namespace rocetrace {

/// The file that execvp() would run; empty where there is none.
std::string find_program(const std::string& name);

/// Why the library is not loaded into the program, as a sentence without its end; nullopt where
/// nothing speaks against it.
std::optional<std::string> why_invisible(const std::string& path);

}  // namespace rocetrace
