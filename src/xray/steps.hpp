// Lines of the kernel's trace as events of a run log.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "runlog/event.hpp"

namespace xray {

/// A line of trace_pipe: "client-221 [000] d..2. 148.206732: post: (rxe_post_send+0x0/0x4b0) qpn=1".
struct TraceLine {
    std::uint32_t cpu = 0;
    std::int64_t t_ns = 0;  ///< by the trace's clock
    std::string_view step;
    std::string_view arguments;

    /// nullopt: another line.
    static std::optional<TraceLine> of(std::string_view line);
    /// The number of events that were lost before this line: "CPU:0 [LOST 12 EVENTS]"; 0: none.
    static std::uint64_t lost(std::string_view line);
    /// nullopt: the kernel could not read it.
    std::optional<std::uint64_t> number(std::string_view name) const;
};

/// Joins lines that belong together, and leaves out what had no effect: the driver's tasks also run when
/// nothing is to do.
class Steps {
  public:
    using Write = std::function<void(const runlog::Event&)>;

    Steps(std::string role, Write write) : role_(std::move(role)), write_(std::move(write)) {}

    /// `offset_ns`: from the trace's clock to CLOCK_REALTIME.
    void take(const TraceLine& line, std::int64_t offset_ns);
    /// Writes what waits for a further line.
    void finish();

    std::uint64_t written() const { return written_; }

  private:
    // Of one CPU: a received packet whose ICRC is being checked, and a task that has had no effect yet.
    struct Waiting {
        std::optional<runlog::Event> packet, task;
        bool has_new_packet = false;
    };

    runlog::Event event(const TraceLine& line, std::int64_t offset_ns) const;
    void write(std::optional<runlog::Event>& event);

    std::string role_;
    Write write_;
    std::map<std::uint32_t, Waiting> waiting_;  // by CPU
    std::uint64_t written_ = 0;
};

}  // namespace xray
