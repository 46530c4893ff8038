// Applies the rules to the frames of the hosts: forwards, drops, delays, duplicates or changes each
// frame. It uses neither sockets nor a clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "capture/frame.hpp"
#include "emulator/rule.hpp"
#include "util/stop_signal.hpp"

namespace emulator {

using Host = std::size_t;  ///< index of a host, from 0

/// A received frame. Its bytes are valid during the call.
struct Arrival {
    capture::Time time{};
    Host from = 0;
    std::optional<Host> to;  ///< nullopt: all others, or not yet learned
    util::Bytes bytes;
};

/// A rule was applied to a frame.
struct Event {
    std::uint32_t rule = 0;
    std::string_view name;  ///< name_of(action); "limit" also if its queue was full
    std::string text;       ///< the rule as written
    std::string detail;     ///< for example "20 ms", "byte 28: 0x41 is 0xbe"; may be empty
};

class StageOutput {
  public:
    StageOutput() = default;
    StageOutput(const StageOutput&) = delete;
    StageOutput& operator=(const StageOutput&) = delete;
    StageOutput(StageOutput&&) = delete;
    StageOutput& operator=(StageOutput&&) = delete;
    virtual ~StageOutput() = default;

    /// Called first, for each frame as received.
    virtual void arrived(const Arrival& arrival, const std::vector<Event>& events) = 0;
    /// Called for each frame that leaves, in order of departure.
    virtual void leaves(Host from, std::optional<Host> to, util::Bytes bytes) = 0;
};

class Stage {
  public:
    struct RuleState {
        std::uint32_t number = 0;
        Rule rule;
        std::optional<Host> from;
        std::optional<Host> to;
        std::uint64_t seen = 0;   ///< frames that matched direction and expression
        std::uint64_t taken = 0;  ///< of those, frames the rule was applied to
        std::mt19937_64 random{};
        std::deque<util::Clock::time_point> queue{};  ///< for Limit: departures of queued frames
    };

    explicit Stage(std::vector<std::string> hosts) : hosts_(std::move(hosts)) {
        cut_until_.resize(hosts_.size());
        cut_by_.resize(hosts_.size());
    }

    /// Numbers are not reused. Rules apply in the order of their numbers.
    std::uint32_t add(Rule rule);
    bool remove(std::uint32_t number);
    void clear();
    /// Resets the counts and the random generators of all rules.
    void restart();
    const std::list<RuleState>& rules() const { return rules_; }
    const std::vector<std::string>& hosts() const { return hosts_; }

    void take(const Arrival& arrival, util::Clock::time_point now, StageOutput& out);
    /// Sends the held frames that are due. Call it when next() has passed.
    void release(util::Clock::time_point now, StageOutput& out);
    util::Deadline next() const;
    std::size_t held_bytes() const { return held_bytes_; }

    /// Maximum time that a reordered frame waits for the frames that are to pass it.
    static constexpr std::chrono::milliseconds overtaking_time{200};

  private:
    struct Held {
        Host from = 0;
        std::optional<Host> to;
        std::vector<std::byte> bytes;
    };
    struct Overtaken {
        Held held;
        std::uint32_t left = 0;  // frames that still have to pass it
        util::Clock::time_point until;
    };
    struct FrameState;

    bool picks(RuleState& state, const Arrival& arrival, bool is_roce, const filter::View& view);
    bool apply(RuleState& state, FrameState& frame, util::Clock::time_point now);
    bool is_cut(const Arrival& arrival, util::Clock::time_point now, FrameState& frame);
    void hold(util::Clock::time_point until, Held held);
    void pass(FrameState& frame, StageOutput& out);
    void count_overtakers(Host from, StageOutput& out);

    std::vector<std::string> hosts_;
    std::list<RuleState> rules_;
    std::uint32_t last_number_ = 0;
    std::vector<util::Clock::time_point> cut_until_;  // one per host
    std::vector<Event> cut_by_;
    std::multimap<util::Clock::time_point, Held> delayed_;
    std::list<Overtaken> overtaken_;
    std::size_t held_bytes_ = 0;
    std::string scratch_;
};

}  // namespace emulator
