// Reads a run log that may still be growing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runlog/event.hpp"
#include "util/fd.hpp"

namespace runlog {

class Tail {
  public:
    /// The file need not exist yet: each next() tries to open it.
    explicit Tail(std::string path);

    /// The next complete event; nullopt if there is none yet. Never waits. A last line without a
    /// line feed is incomplete. A complete line that is not an event is counted and skipped. Throws
    /// std::system_error if reading fails.
    std::optional<Event> next();

    std::uint64_t skipped_lines() const { return skipped_; }

  private:
    bool read_more();

    std::string path_;
    util::Fd fd_;
    std::string buffer_;
    std::size_t begin_ = 0;  // of the unread bytes in buffer_
    std::uint64_t skipped_ = 0;
};

}  // namespace runlog
