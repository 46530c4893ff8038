#include "rocetrace/tracelog/series.hpp"

#include <algorithm>

namespace tracelog {
namespace {

constexpr std::size_t most_intervals = 64;

}  // namespace

std::uint64_t Series::extreme(std::uint64_t a, std::uint64_t b) const {
    return keeps_ == Keeps::least ? std::min(a, b) : std::max(a, b);
}

void Series::halve() {
    const std::size_t size = intervals_.size();
    for (std::size_t i = 0; i < size; i += 2)
        intervals_[i / 2] =
            i + 1 < size ? extreme(intervals_[i], intervals_[i + 1]) : intervals_[i];
    intervals_.resize((size + 1) / 2);
    width_ns_ *= 2;
}

void Series::add(std::int64_t t_ns, std::uint64_t count) {
    if (intervals_.empty()) {
        begin_ns_ = end_ns_ = t_ns;
        intervals_.push_back(count);
    }
    end_ns_ = std::max(end_ns_, t_ns);
    while ((end_ns_ - begin_ns_) / width_ns_ >= static_cast<std::int64_t>(most_intervals))
        halve();
    const auto at =
        static_cast<std::size_t>(std::max<std::int64_t>(t_ns - begin_ns_, 0) / width_ns_);
    // An interval begins with the count of the one before.
    while (intervals_.size() <= at)
        intervals_.push_back(count_);
    intervals_[at] = extreme(intervals_[at], count);
    count_ = count;
}

std::vector<std::uint64_t> Series::intervals(std::size_t most) const {
    std::vector<std::uint64_t> result;
    const std::size_t together = (intervals_.size() + most - 1) / std::max<std::size_t>(most, 1);
    for (std::size_t i = 0; i < intervals_.size(); ++i) {
        if (i % together == 0)
            result.push_back(intervals_[i]);
        else
            result.back() = extreme(result.back(), intervals_[i]);
    }
    return result;
}

}  // namespace tracelog
