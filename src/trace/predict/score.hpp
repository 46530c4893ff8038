// The score of a learner.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "trace/predict/answer.hpp"

namespace predict {

class Score {
  public:
    void add(Grade grade) {
        ++asked_;
        ++grades_.at(static_cast<std::size_t>(grade));
    }
    void add_unanswered() { ++asked_; }

    /// "5 asked: 2 right, 0 nearly, 3 wrong".
    std::string text() const;

  private:
    std::size_t asked_ = 0;
    std::array<std::size_t, 3> grades_{};
};

}  // namespace predict
