// A unique path in the temporary folder. Initially nothing exists there; the destructor removes the
// file or folder.
#pragma once

#include <filesystem>
#include <string>
#include <unistd.h>

namespace support {

class TempPath {
  public:
    explicit TempPath(const std::string& name)
        : path_(std::filesystem::temp_directory_path() / (std::to_string(getpid()) + "_" + name)) {
        std::filesystem::remove_all(path_);
    }
    ~TempPath() { std::filesystem::remove_all(path_); }
    TempPath(const TempPath&) = delete;
    TempPath& operator=(const TempPath&) = delete;
    TempPath(TempPath&&) = delete;
    TempPath& operator=(TempPath&&) = delete;

    std::string str() const { return path_.string(); }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace support
