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
    /// The file may not exist yet: it is looked for again with each next().
    explicit Tail(std::string path);

    /// The next whole event; nullopt where there is none at present. Never waits. A last line
    /// without its line feed is not whole yet; a whole line that is no event is counted and passed
    /// over. Throws std::system_error when reading fails.
    std::optional<Event> next();

    std::uint64_t skipped_lines() const { return skipped_; }

  private:
    bool read_more();

    std::string path_;
    util::Fd fd_;
    std::string buffer_;
    std::size_t begin_ = 0;  // of what has not been looked at, in buffer_
    std::uint64_t skipped_ = 0;
};

}  // namespace runlog
