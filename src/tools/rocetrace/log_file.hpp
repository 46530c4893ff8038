// The run log that rocetrace writes: whole lines, in large pieces.
#pragma once

#include <cstdint>
#include <string>

#include "util/fd.hpp"

namespace rocetrace {

class LogFile {
  public:
    /// "-": standard output. Throws util::Error where the file cannot be made.
    explicit LogFile(std::string path);

    std::string& buffer() { return buffer_; }
    /// Writes the buffer when it is large enough, or `all` of it. False once the log is incomplete
    /// (a full disk): it then ends with its last whole line, and gets no more.
    bool write(bool all);

    const std::string& path() const { return path_; }
    /// Why it is incomplete; empty where it is not.
    const std::string& error() const { return error_; }

  private:
    std::string path_;
    util::Fd file_;
    int fd_ = 1;
    std::string buffer_;
    std::uint64_t written_ = 0;  // whole lines, bytes
    std::string error_;
};

}  // namespace rocetrace
