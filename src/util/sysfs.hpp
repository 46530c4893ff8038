// Reads small files of the kernel below /sys.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace util {

/// Returns the first line without its line feed; empty if the file cannot be read.
std::string first_line(const std::filesystem::path& path);

/// Returns the sorted paths of a folder's entries; none if the folder cannot be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

}  // namespace util
