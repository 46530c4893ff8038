// The link emulator as a learning switch between two hosts or more: a Stage between their Ports, recorded
// by a Recorder, one thread, one epoll. It drops nothing of its own while its hosts take what they
// are sent: where one is slower, the others are not read until it has caught up.
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
    /// With more bytes than this waiting for one host, the others are not read.
    static constexpr std::size_t backlog_limit = std::size_t{1} << 20U;
    /// And not with more than these held by the rules.
    static constexpr std::size_t held_limit = std::size_t{64} << 20U;
    /// A host that takes nothing for so long does not hold the others up any longer: what is sent
    /// to it is dropped and counted, until it reads again.
    static constexpr std::chrono::seconds silence_limit{5};
    static constexpr std::chrono::milliseconds between_tries{100};

    /// `say`: one sentence each time a host comes or goes.
    Switch(std::vector<Port> ports, std::function<void(const std::string&)> say);

    Stage& stage() { return stage_; }
    Recorder& recorder() { return recorder_; }
    const std::vector<Port>& ports() const { return ports_; }

    /// Beside the hosts; `on_ready` is called while `fd` can be read.
    void watch(int fd, std::function<void()> on_ready);
    void unwatch(int fd);
    /// Until a stop is requested. What is held by then is let go, and what was recorded is in its
    /// file.
    void run(util::StopSignal& stop);

  private:
    void arrived(const Arrival& arrival, const std::vector<Event>& events) override;
    void leaves(Host from, std::optional<Host> to, util::Bytes bytes) override;

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
