// The run log that rocetrace writes: whole lines, in large blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "util/fd.hpp"

namespace rocetrace {

class LogFile {
  public:
    /// "-": standard output. Throws util::Error if the file cannot be created.
    explicit LogFile(std::string path);

    /// For a FIFO, pipe or socket whose reader is slow: while a write has to wait, `is_needed` is
    /// called when `fd` is readable. It returns false if the log is not to be waited for any more.
    void while_waiting(int fd, std::function<bool()> is_needed);

    std::string& buffer() { return buffer_; }
    /// Writes the buffer if it is large enough, or if `all` is true. Returns false once the log is
    /// incomplete (a full disk): it then ends with its last whole line, and nothing more is
    /// written.
    bool write(bool all);

    const std::string& path() const { return path_; }
    /// Why it is incomplete; empty if it is complete.
    const std::string& error() const { return error_; }

  private:
    /// Waits until some bytes can be written, and returns their number; 0 if it should not wait.
    std::size_t wait(std::size_t bytes) const;

    std::string path_;
    util::Fd file_;
    int fd_ = 1;
    std::string buffer_;
    std::uint64_t written_ = 0;  // bytes of whole lines
    std::string error_;
    int wake_fd_ = -1;
    std::function<bool()> is_needed_;
};

}  // namespace rocetrace
