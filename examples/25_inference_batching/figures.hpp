// The latencies of batches and requests, and the final line of a run.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "runlog/event.hpp"
#include "util/percentile.hpp"
#include "waiting.hpp"

namespace lesson25 {

class Figures {
  public:
    /// Records the result of a batch: the arrival times of its requests, and when it was posted.
    void add(const std::vector<Time>& arrived, Time posted, Time now) {
        batch_us_.push_back(as_us(now - posted));
        for (const Time& arrival : arrived)
            request_us_.push_back(as_us(now - arrival));
        last_ = std::max(last_.value_or(now), now);
    }
    /// Records when requests may start; with several clients, the earliest.
    void begin(Time now) { first_ = std::min(first_.value_or(now), now); }

    std::size_t requests() const { return request_us_.size(); }

    /// Adds the fields of a "serving" event.
    void describe(runlog::Fields& fields) const {
        const double seconds =
            first_ && last_ ? std::chrono::duration<double>(*last_ - *first_).count() : 0;
        const auto a_second = [&](std::size_t number) {
            return fmt::format("{:.1f}", seconds > 0 ? static_cast<double>(number) / seconds : 0.0);
        };
        fields.emplace_back("requests", requests());
        fields.emplace_back("batches", batch_us_.size());
        fields.emplace_back("elapsed_us", static_cast<std::uint64_t>(seconds * 1e6));
        fields.emplace_back("batches_per_s", a_second(batch_us_.size()));
        fields.emplace_back("requests_per_s", a_second(requests()));
        fields.emplace_back("batch_p50_us", whole(batch_us_, 50));
        fields.emplace_back("batch_p99_us", whole(batch_us_, 99));
        fields.emplace_back("request_p50_us", whole(request_us_, 50));
        fields.emplace_back("request_p99_us", whole(request_us_, 99));
    }

  private:
    static double as_us(nanoseconds time) { return static_cast<double>(time.count()) / 1000; }
    static std::uint64_t whole(const std::vector<double>& values, double percent) {
        return static_cast<std::uint64_t>(util::percentile(values, percent));
    }

    std::vector<double> batch_us_, request_us_;
    std::optional<Time> first_, last_;
};

}  // namespace lesson25
