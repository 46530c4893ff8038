// The programs that were built with this test: their folder, whether they have sanitizers, and runs of
// rocecap.
#pragma once

#include <filesystem>
#include <string>

#include "support/process.hpp"

// The sanitizer defines the name.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" void __asan_init() __attribute__((weak));

namespace support {

/// Returns whether the project has sanitizers. Tests themselves are compiled without them.
inline bool is_sanitized() {
    return __asan_init != nullptr;
}

inline std::filesystem::path build_dir() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

inline std::string rocecap() {
    return (build_dir() / "rocecap").string();
}

/// Runs rocecap.
inline Outcome rocecap(Argv arguments) {
    arguments.insert(arguments.begin(), rocecap());
    return run(arguments);
}

}  // namespace support
