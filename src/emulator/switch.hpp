// The link emulator as a learning switch between two or more hosts: one Stage between their Ports,
// one Recorder, one thread, one epoll. It applies backpressure instead of dropping frames: if one
// host is slow, it stops reading from the others until the slow host has caught up.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "emulator/load.hpp"
#include "emulator/mac_table.hpp"
#include "emulator/port.hpp"
#include "emulator/recorder.hpp"
#include "emulator/stage.hpp"
#include "util/deadlines.hpp"
#include "util/poller.hpp"
#include "util/stop_signal.hpp"

namespace emulator {

class Switch : private StageOutput {
  public:
    /// If more bytes than this wait for one host, the switch stops reading from the others.
    static constexpr std::size_t backlog_limit = std::size_t{1} << 20U;
    /// The same limit for the frames that the rules hold.
    static constexpr std::size_t held_limit = std::size_t{64} << 20U;
    /// A host that reads nothing for this long no longer blocks the others: frames to it are
    /// dropped and counted until it reads again.
    static constexpr std::chrono::seconds silence_limit{5};
    static constexpr std::chrono::milliseconds between_tries{100};

    /// `say`: receives one sentence each time a host connects or disconnects.
    Switch(std::vector<Port> ports, std::function<void(const std::string&)> say);

    Stage& stage() { return stage_; }
    Recorder& recorder() { return recorder_; }
    const std::vector<Port>& ports() const { return ports_; }

    /// Watches a further descriptor. Calls `on_ready` while `fd` is readable.
    void watch(int fd, std::function<void()> on_ready);
    void unwatch(int fd);
    /// Runs until a stop is requested. Then sends the held frames and closes the recording.
    void run(util::StopSignal& stop);

  private:
    std::uint64_t arrived(const ReceivedFrame& arrival, bool is_roce,
                          const std::vector<RuleEvent>& events) override;
    void acted(const Sent& sent, const RuleEvent& event) override;
    void leaves(Host from, std::optional<Host> to, util::Bytes bytes, bool is_roce) override;

    void ready(Host host, std::uint32_t events);
    void connect(Host host);
    void lost(Host host, const std::string& why);
    void flush(Host host);
    void set_interest();
    bool is_congested_for(Host from) const;
    util::Deadline next() const;
    void check_deadlines();

    struct Line {
        std::uint32_t interest = 0;
        bool is_stuck = false;
    };
    enum class Wait : std::uint8_t { Connect, Unstick, Flush };

    std::vector<Port> ports_;
    std::vector<Line> lines_;
    std::function<void(const std::string&)> say_;
    Stage stage_;
    Recorder recorder_;
    MacTable macs_;
    Load load_;
    std::size_t crossed_ = 0;  // bytes
    util::Poller poller_;
    util::Deadlines<std::pair<Wait, Host>> deadlines_;
    std::vector<std::pair<int, std::function<void()>>> watched_;
};

}  // namespace emulator
