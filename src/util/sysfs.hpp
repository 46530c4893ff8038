// What the kernel shows as small files, below /sys.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace util {

/// Without its line feed; empty where the file cannot be read.
std::string first_line(const std::filesystem::path& path);

/// The paths of a folder's entries, sorted; none where the folder cannot be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

}  // namespace util
