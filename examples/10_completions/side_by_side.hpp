// Lesson 10: a table of two measurements. The ratio is the second column divided by the first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "runlog/log.hpp"

namespace lesson10 {

class SideBySide {
  public:
    SideBySide(runlog::Log& log, std::string_view what, std::string_view one,
               std::string_view other)
        : log_(log) {
        log_.note(fmt::format("{:<36} {:>9} {:>9}   ratio", what, one, other));
    }

    void row(std::string_view what, std::int64_t one, std::int64_t other) {
        log_.note(fmt::format(
            "{:<36} {:>9} {:>9}   {:.2f}", what, one, other,
            static_cast<double>(other) / static_cast<double>(std::max<std::int64_t>(one, 1))));
    }

  private:
    runlog::Log& log_;
};

}  // namespace lesson10
