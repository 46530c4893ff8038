#include "util/sysfs.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>

namespace util {

std::string first_line(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> entries;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
        entries.push_back(entry.path());
    std::ranges::sort(entries);
    return entries;
}

}  // namespace util
