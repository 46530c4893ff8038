// The lines that a person or a pipe writes to standard input.
#pragma once

#include <optional>
#include <string>

#include "util/stop_signal.hpp"

namespace rocecap {

/// Lines of standard input, as they come. While there is one of these, SIGINT and SIGTERM only end
/// them.
class InputLines {
  public:
    /// Waits. nullopt at the end of the input, and once a stop is requested.
    std::optional<std::string> next();

    util::StopSignal& stop() { return stop_; }

  private:
    bool read_more();

    util::StopSignal stop_;
    std::string buffer_;
};

}  // namespace rocecap
