// What the traced program prints, as lines with the time at which they arrived.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "util/fd.hpp"

namespace rocetrace {

/// A pipe that takes the place of one of the program's output streams.
class ProgramOutput {
  public:
    struct Line {
        std::int64_t t_ns;
        std::string text;
    };

    /// `stream`: STDOUT_FILENO or STDERR_FILENO. Throws std::system_error.
    explicit ProgramOutput(int stream);

    int stream() const { return stream_; }
    /// The end for the program.
    int write_end() const { return write_end_.get(); }
    void close_write_end() { write_end_.reset(); }
    /// Readable when the program has printed something, and -1 after its end of file.
    int read_end() const { return read_end_ ? read_end_.get() : -1; }

    /// Returns the lines that are complete. `all`: also an incomplete last one.
    std::vector<Line> take(bool all);

  private:
    int stream_;
    util::Fd read_end_;
    util::Fd write_end_;
    std::string pending_;
};

}  // namespace rocetrace
