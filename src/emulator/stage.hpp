// Applies the rules to the frames of the hosts. A rule picks frames as they arrive; each frame, and
// each copy of it, then passes the rules that picked it in the order of their numbers, like devices
// in a row: what one rule holds continues later with the next. It uses neither sockets nor a clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "capture/frame.hpp"
#include "emulator/edit.hpp"
#include "emulator/rule.hpp"
#include "util/stop_signal.hpp"

namespace emulator {

using Host = std::size_t;  ///< index of a host, from 0

/// A received frame. Its bytes are valid during the call.
struct ReceivedFrame {
    capture::Time time{};
    Host from = 0;
    std::optional<Host> to;  ///< nullopt: all others, or not yet learned
    util::Bytes bytes;
};

/// A frame as its host sent it.
struct Sent {
    capture::Time time{};
    util::Clock::time_point at{};  ///< the same moment as `time`
    Host from = 0;
    std::optional<Host> to{};
    LocatedFrame frame{};
    const wire::OpcodeInfo* opcode = nullptr;  ///< as in wire::Packet
    std::vector<std::uint32_t> rules{};        ///< the numbers of those that picked it
    std::uint32_t copies = 0;                  ///< made so far
    std::uint64_t recorded = 0;                ///< what StageOutput::arrived() returned

    bool is_roce() const { return frame.trail.has(wire::Header::Bth); }
};

/// A rule was applied to a frame.
struct RuleEvent {
    std::uint32_t rule = 0;
    std::string_view name;   ///< name_of(action); "limit" also if its queue was full
    std::string text;        ///< the rule as written
    std::string detail;      ///< for example "20 ms", "byte 28: 0x41 → 0xbe"; may be empty
    std::uint32_t copy = 0;  ///< 0: the frame itself; otherwise the number of its copy
    capture::Time time{};
};

class StageOutput {
  public:
    StageOutput() = default;
    StageOutput(const StageOutput&) = delete;
    StageOutput& operator=(const StageOutput&) = delete;
    StageOutput(StageOutput&&) = delete;
    StageOutput& operator=(StageOutput&&) = delete;
    virtual ~StageOutput() = default;

    /// Called first, for each frame as received. `is_roce` is also that of the frame when it leaves:
    /// no rule changes it. `events`: what the rules do to the frame and its copies on arrival.
    /// Returns a value for Sent::recorded.
    virtual std::uint64_t arrived(const ReceivedFrame& arrival, bool is_roce,
                                  const std::vector<RuleEvent>& events) = 0;
    /// Called for each event, those on arrival included, before the frame leaves.
    virtual void acted(const Sent& sent, const RuleEvent& event) = 0;
    /// Called for each frame that leaves, in order of departure.
    virtual void leaves(Host from, std::optional<Host> to, util::Bytes bytes, bool is_roce) = 0;
};

class Stage {
  public:
    struct RuleState {
        std::uint32_t number = 0;
        Rule rule;
        std::optional<Host> from;
        std::optional<Host> to;
        std::uint64_t seen = 0;   ///< frames that matched direction and expression
        std::uint64_t taken = 0;  ///< how often the rule was applied to one of those, or to a copy
        std::mt19937_64 random{};
        std::deque<util::Clock::time_point> queue{};  ///< for Limit: departures of queued frames
    };

    explicit Stage(std::vector<std::string> hosts)
        : hosts_(std::move(hosts)), cuts_(hosts_.size()) {}

    /// Numbers are not reused.
    std::uint32_t add(Rule rule);
    /// Ends a cut by this rule. What the rule holds continues when its time has come.
    bool remove(std::uint32_t number);
    void clear();
    /// Resets the counts and the random generators of all rules.
    void restart();
    const std::list<RuleState>& rules() const { return rules_; }
    const std::vector<std::string>& hosts() const { return hosts_; }

    /// Also releases what is due.
    void take(const ReceivedFrame& arrival, util::Clock::time_point now, StageOutput& out);
    /// Continues with the held frames that are due. Call it when next() has passed.
    void release(util::Clock::time_point now, StageOutput& out);
    util::Deadline next() const;
    std::size_t held_bytes() const { return held_bytes_; }

    /// Maximum time that a reordered frame waits for the frames that are to pass it.
    static constexpr std::chrono::milliseconds overtaking_time{200};

    /// Duplicate rules that follow each other multiply the copies: a packet has at most this many.
    static constexpr std::uint32_t most_copies = 1000;

  private:
    using Time = util::Clock::time_point;

    // A frame, or a copy of it, on its way through the rules.
    struct Frame {
        std::shared_ptr<Sent> sent;
        LocatedFrame edited{};  // empty: unchanged
        std::uint32_t copy = 0;
        std::uint32_t rule = 0;  // the last one that it reached

        util::Bytes bytes() const {
            return edited.bytes.empty() ? sent->frame.bytes : edited.bytes;
        }
        LocatedFrame& edit() {
            if (edited.bytes.empty())
                edited = sent->frame;
            return edited;
        }
    };
    struct Overtaken {
        Frame frame;
        std::uint32_t left = 0;  // frames that still have to pass it
        Time until;
    };
    struct HostCut {
        Time until;
        RuleEvent event;
    };
    struct Action {
        std::shared_ptr<Sent> sent;
        RuleEvent event;
    };
    struct Departure {
        Frame frame;
        std::optional<Host> to;
    };

    wire::Packet decoded(const ReceivedFrame& arrival) const;
    std::vector<std::uint32_t> pick(const ReceivedFrame& arrival, const wire::Packet& packet);
    bool picks(RuleState& state, const ReceivedFrame& arrival, bool is_roce,
               const filter::View& view);
    void pass(Frame frame, Time now);
    bool apply(RuleState& state, Frame& frame, Time now, std::vector<Frame>& followers);
    void overtake(const Frame& by, std::vector<Frame>& followers);
    void leave(Frame frame, Time now);
    void log(const Frame& frame, RuleEvent event, Time now);
    const HostCut* cut_at(Host host, Time now) const;
    void hold(Time until, Frame frame);
    Frame take_first();
    void flush(StageOutput& out);

    std::vector<std::string> hosts_;
    std::list<RuleState> rules_;
    std::uint32_t last_number_ = 0;
    std::vector<HostCut> cuts_;  // one per host
    std::multimap<Time, Frame> held_;
    std::list<Overtaken> overtaken_;  // by rules to reorder; `until` grows
    // Not yet told to the output: the events of a frame's arrival are part of its record.
    std::vector<Action> actions_;
    std::vector<Departure> departures_;
    std::size_t held_bytes_ = 0;
    std::string scratch_;
};

}  // namespace emulator
