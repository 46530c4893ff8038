// Where the programs are that were built along with this test, and whether with sanitizers.
#pragma once

#include <filesystem>
#include <string>

// The sanitizer's own name.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" void __asan_init() __attribute__((weak));

namespace support {

/// Tests are compiled without the sanitizers that the project under them may have.
inline bool is_sanitized() {
    return __asan_init != nullptr;
}

inline std::filesystem::path build_dir() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

inline std::string rocecap() {
    return (build_dir() / "rocecap").string();
}

}  // namespace support
