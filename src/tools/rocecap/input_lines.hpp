// Lines from standard input, typed or piped.
#pragma once

#include <optional>
#include <string>

#include "util/stop_signal.hpp"

namespace rocecap {

/// Reads lines from standard input as they arrive. While an object exists, SIGINT and SIGTERM only
/// end its input.
class InputLines {
  public:
    /// Waits for a line. Returns nullopt at the end of the input, and after a stop request.
    std::optional<std::string> next();

    util::StopSignal& stop() { return stop_; }

  private:
    bool read_more();

    util::StopSignal stop_;
    std::string buffer_;
};

}  // namespace rocecap
