// How much a sender has in flight. A fixed window ignores the path. An adaptive one grows while
// completions are as fast as on an idle path, and shrinks when they are late, which means that
// packets wait in a queue. Additive increase, multiplicative decrease by delay, a much simplified
// form of TIMELY (Mittal et al., SIGCOMM 2015) and Swift (Kumar et al., SIGCOMM 2020).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace lesson21 {

using Time = std::chrono::nanoseconds;

class Window {
  public:
    static Window fixed(std::uint64_t chunks) { return {static_cast<double>(chunks), false}; }
    /// Starts with one chunk and grows to at most `most`.
    static Window adaptive(std::uint64_t most) {
        Window window(1, true);
        window.most_ = static_cast<double>(most);
        return window;
    }

    /// Returns true if another chunk may be sent.
    bool has_room(std::uint64_t outstanding) const {
        return static_cast<double>(outstanding) < std::max(1.0, size_);
    }

    /// Records a completion and its latency.
    void answered(Time took) {
        if (!is_adaptive_)
            return;
        shortest_ = std::min(shortest_, took);
        if (took <= shortest_ * late) {
            size_ = std::min(most_, size_ + 1 / size_);  // one more per round trip
            since_decrease_ += 1;
        } else if (since_decrease_ >= size_) {
            size_ = std::max(1.0, size_ * decrease);  // once per round trip
            since_decrease_ = 0;
        } else {
            since_decrease_ += 1;
        }
        largest_ = std::max(largest_, size_);
    }

    double size() const { return size_; }
    double largest() const { return largest_; }

  private:
    static constexpr int late = 2;  // multiple of the shortest
    static constexpr double decrease = 0.7;

    Window(double size, bool is_adaptive)
        : size_(size), largest_(size), is_adaptive_(is_adaptive) {}

    double size_;
    double largest_;
    double most_ = 0;
    bool is_adaptive_;
    double since_decrease_ = 0;
    Time shortest_ = Time::max() / late;
};

}  // namespace lesson21
