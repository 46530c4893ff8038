// Captures of real runs, and their frames.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "capture/file_source.hpp"

namespace rocecap_test {

inline std::vector<std::string> captures() {
    std::vector<std::string> all;
    for (const char* folder : {"captures/samples", "tests/upper/captures"})
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
            if (entry.path().extension() == ".pcapng")
                all.push_back(entry.path().string());
    std::ranges::sort(all);
    return all;
}

/// Calls visit(frame, packet) for each frame.
void read(const std::string& path, auto visit) {
    capture::FileSource source(path);
    wire::RoceFlows flows;
    while (const auto frame = source.next())
        visit(*frame, capture::decode(*frame, flows));
}

}  // namespace rocecap_test
