// The bytes of a capture: of a file, of a pipe, or of standard input.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "util/cursor.hpp"
#include "util/fd.hpp"

namespace capture {

class Input {
  public:
    /// `path`: a file; "-": standard input. Waits for the first bytes of a pipe. Throws util::Error
    /// where it cannot be opened, has not a byte, or is something that holds no capture: a
    /// directory, a device.
    explicit Input(const std::string& path);

    /// As sentences name it: "'run.pcapng'", "standard input".
    const std::string& name() const { return name_; }

    /// The first bytes, which read() gives once more: four, or all of an input that is shorter.
    util::Bytes begin() const { return std::span(begin_).first(begin_size_); }

    /// At least one byte, as soon as there are some; 0: the end. Waits. Throws util::Error, also
    /// where a signal interrupts it.
    std::size_t read(std::span<std::byte> buffer);

    /// True where read() has to wait for somebody to write more into a pipe.
    bool must_wait() const;

  private:
    std::size_t read_fd(std::span<std::byte> buffer) const;
    void look_at_begin();

    std::string name_;
    util::Fd file_;  // none: standard input
    int fd_ = -1;
    bool is_stream_ = false;
    std::array<std::byte, 4> begin_{};
    std::size_t begin_size_ = 0;
    std::size_t begin_taken_ = 0;
};

}  // namespace capture
