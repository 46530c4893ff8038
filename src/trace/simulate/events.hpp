// The simulated time: what is to happen, in the order of its times. No clock is read.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace simulate {

class Events {
  public:
    /// Nanoseconds since the beginning. Calls at the same time happen in the order in which they were
    /// added.
    void at(std::int64_t t_ns, std::function<void()> call) {
        calls_.push({t_ns, ++number_, std::move(call)});
    }
    void after(std::int64_t ns, std::function<void()> call) { at(now_ + ns, std::move(call)); }
    std::int64_t now() const { return now_; }

    /// Returns false if `most` calls did not suffice.
    bool run(std::uint64_t most = UINT64_MAX) {
        for (; !calls_.empty(); --most) {
            if (most == 0)
                return false;
            const Call next = calls_.top();
            calls_.pop();
            now_ = next.t_ns;
            next.call();
        }
        return true;
    }

  private:
    struct Call {
        std::int64_t t_ns = 0;
        std::uint64_t number = 0;
        std::function<void()> call;

        bool operator<(const Call& other) const {
            return std::pair(t_ns, number) > std::pair(other.t_ns, other.number);
        }
    };

    std::priority_queue<Call> calls_;
    std::uint64_t number_ = 0;
    std::int64_t now_ = 0;
};

}  // namespace simulate
