// When requests arrive, and when waiting requests form a batch.
#pragma once

#include <cmath>
#include <cstddef>
#include <deque>
#include <vector>

#include "model.hpp"
#include "waiting.hpp"

namespace lesson25 {

/// Returns arrival times after the start. `rate`: requests per second; 0: all at the start. The
/// intervals are even or exponentially distributed (a Poisson process: many independent users), and
/// the same for the same seed.
inline std::vector<nanoseconds> arrivals(std::size_t requests, double rate, bool is_even,
                                         std::uint64_t seed) {
    std::vector<nanoseconds> all(requests);
    if (rate <= 0)
        return all;
    Numbers numbers(seed);
    double at = 0;  // seconds
    for (nanoseconds& arrival : all) {
        arrival = nanoseconds(static_cast<std::int64_t>(at * 1e9));
        at += (is_even ? 1 : -std::log(numbers.fraction())) / rate;
    }
    return all;
}

/// Waiting requests in order of arrival. They form a batch when there are `most` of them, or when
/// the first one has waited for `wait`.
class Batcher {
  public:
    Batcher(std::size_t most, nanoseconds wait) : most_(most), wait_(wait) {}

    void arrive(Time at) { waiting_.push_back(at); }
    std::size_t waiting() const { return waiting_.size(); }

    bool is_ready(Time now) const {
        return waiting_.size() >= most_ || (!waiting_.empty() && now - waiting_.front() >= wait_);
    }
    /// Returns when the batch is ready without further requests; nullopt if no request waits.
    util::Deadline ready_at() const {
        return waiting_.empty() ? util::Deadline() : util::Deadline(waiting_.front() + wait_);
    }

    /// Returns the arrival times of the requests in the batch.
    std::vector<Time> take() {
        const auto end =
            waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(most_, waiting_.size()));
        std::vector<Time> batch(waiting_.begin(), end);
        waiting_.erase(waiting_.begin(), end);
        return batch;
    }

  private:
    std::size_t most_;
    nanoseconds wait_;
    std::deque<Time> waiting_;
};

}  // namespace lesson25
