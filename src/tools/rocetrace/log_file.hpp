// The run log that rocetrace writes: whole lines, in large blocks.
#pragma once

#include <cstdint>
#include <string>

#include "util/fd.hpp"

namespace rocetrace {

class LogFile {
  public:
    /// "-": standard output. Throws util::Error if the file cannot be created.
    explicit LogFile(std::string path);

    std::string& buffer() { return buffer_; }
    /// Writes the buffer if it is large enough, or if `all` is true. Returns false once the log is
    /// incomplete (a full disk): it then ends with its last whole line, and nothing more is
    /// written.
    bool write(bool all);

    const std::string& path() const { return path_; }
    /// Why it is incomplete; empty if it is complete.
    const std::string& error() const { return error_; }

  private:
    std::string path_;
    util::Fd file_;
    int fd_ = 1;
    std::string buffer_;
    std::uint64_t written_ = 0;  // bytes of whole lines
    std::string error_;
};

}  // namespace rocetrace
