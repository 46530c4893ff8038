#include "trace/predict/score.hpp"

#include <fmt/format.h>

namespace predict {

std::string Score::text() const {
    const auto [right, nearly, wrong] = grades_;
    std::string text =
        fmt::format("{} asked: {} right, {} nearly, {} wrong", asked_, right, nearly, wrong);
    if (const std::size_t answered = right + nearly + wrong; asked_ != answered)
        text += fmt::format(", {} shown without a prediction", asked_ - answered);
    return text;
}

}  // namespace predict
