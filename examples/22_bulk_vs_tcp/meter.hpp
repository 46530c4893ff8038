// The progress of a transfer: a bar on the terminal, and points for a plot. Log lines are written
// only after the measurement.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "runlog/log.hpp"

namespace lesson22 {

class Meter {
  public:
    Meter(std::string_view transport, std::uint64_t size)
        : transport_(transport), size_(size), is_watched_(isatty(STDERR_FILENO) == 1) {
        points_.reserve(most_points + 2);
    }
    Meter(const Meter&) = delete;
    Meter& operator=(const Meter&) = delete;
    Meter(Meter&&) = delete;
    Meter& operator=(Meter&&) = delete;
    ~Meter() { wipe(); }

    void start() { points_.push_back({started_ns_ = runlog::now_ns(), 0}); }

    /// Records that this many bytes have arrived, as far as this side knows.
    void at(std::uint64_t bytes) {
        if (bytes < size_ && bytes < points_.back().bytes + size_ / most_points)
            return;
        const std::int64_t now = runlog::now_ns();
        points_.push_back({now, bytes});
        if (is_watched_ && now - drawn_ns_ > 100'000'000)
            draw(now, bytes);
    }

    /// Nanoseconds from start() to the last at().
    std::int64_t elapsed_ns() const { return points_.back().t_ns - started_ns_; }

    double mib_per_s() const {
        return static_cast<double>(size_) / (1 << 20) / (static_cast<double>(elapsed_ns()) / 1e9);
    }

    /// Writes the points as "progress" events.
    void write(runlog::Log& log) const {
        for (const Point& point : points_)
            log.event("progress", {{"transport", transport_},
                                   {"elapsed_us", (point.t_ns - started_ns_) / 1000},
                                   {"bytes", point.bytes}});
    }

    /// Clears the line of the bar.
    void wipe() {
        if (drawn_ns_ != 0)
            std::fputs("\r\033[K", stderr);
        drawn_ns_ = 0;
    }

  private:
    struct Point {
        std::int64_t t_ns;
        std::uint64_t bytes;
    };
    static constexpr std::size_t most_points = 50;

    void draw(std::int64_t now, std::uint64_t bytes) {
        constexpr std::size_t width = 30;
        const double seconds = static_cast<double>(now - started_ns_) / 1e9;
        std::string bar(width * bytes / size_, '#');
        bar.resize(width, '.');
        std::fputs(fmt::format("\r{:<13} [{}] {:3} %  {:.0f} MiB/s  {:.0f} s ", transport_, bar,
                               100 * bytes / size_,
                               static_cast<double>(bytes) / (1 << 20) / seconds, seconds)
                       .c_str(),
                   stderr);
        drawn_ns_ = now;
    }

    std::string transport_;
    std::uint64_t size_;
    bool is_watched_;
    std::int64_t started_ns_ = 0;
    std::int64_t drawn_ns_ = 0;
    std::vector<Point> points_;
};

}  // namespace lesson22
