// A set of deadlines, to wait for the nearest one.
#pragma once

#include <map>
#include <set>
#include <utility>

#include "util/stop_signal.hpp"

namespace util {

/// At most one deadline per key. Each call takes logarithmic time.
template <typename Key>
class Deadlines {
  public:
    /// Replaces the key's deadline; nullopt: none.
    void set(const Key& key, Deadline deadline) {
        if (const auto old = times_.find(key); old != times_.end()) {
            order_.erase({old->second, key});
            times_.erase(old);
        }
        if (!deadline)
            return;
        times_.emplace(key, *deadline);
        order_.emplace(*deadline, key);
    }
    void clear(const Key& key) { set(key, std::nullopt); }
    bool has(const Key& key) const { return times_.contains(key); }

    Deadline nearest() const {
        return order_.empty() ? Deadline() : Deadline(order_.begin()->first);
    }

    /// Removes the earliest deadline that has passed, and returns its key.
    std::optional<Key> take_past(Clock::time_point now) {
        if (order_.empty() || order_.begin()->first > now)
            return std::nullopt;
        const Key key = order_.begin()->second;
        clear(key);
        return key;
    }

  private:
    std::map<Key, Clock::time_point> times_;
    std::set<std::pair<Clock::time_point, Key>> order_;
};

}  // namespace util
