// Where the programs are that were built along with this test: by the same compiler, with the same
// sanitizers.
#pragma once

#include <filesystem>
#include <string>

namespace support {

inline std::filesystem::path build_dir() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

inline std::string rocecap() {
    return (build_dir() / "rocecap").string();
}

}  // namespace support
