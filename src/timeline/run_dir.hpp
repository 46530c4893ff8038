// A run directory: what run.json says that a timeline needs, and the files beside it, read as they
// grow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "capture/pcapng_tail.hpp"
#include "runlog/tail.hpp"

namespace timeline {

/// Whose log it is where the cable between the hosts is a program that has done something to
/// packets.
inline constexpr const char* cable_role = "cable";

struct RunInfo {
    std::string step;
    std::vector<std::string> roles;  // "server", "client", and further ones: "client2"
    bool ended = false;              // run.json has the key "ended": nothing will be added any more
    std::map<std::string, std::string> addresses;   // role -> IP address, digits
    std::map<std::string, std::string> interfaces;  // role -> network interface
    std::map<std::string, std::int64_t>
        offsets;  // role -> clock offset in ns, as Timeline takes them
};

class RunDir {
  public:
    /// Throws util::Error where `path` is no run directory.
    explicit RunDir(std::string path);

    /// As run.json says now. Throws util::Error where it cannot be read; it is replaced as a whole,
    /// never half-written.
    RunInfo info() const;

    /// The next event or frame that is there now; std::monostate where there is none at present.
    using Item = std::variant<std::monostate, runlog::Event, capture::Frame>;
    Item next();
    /// The same of the logs alone, the server's first, and of the capture.
    std::optional<runlog::Event> next_event();
    std::optional<capture::Frame> next_frame();
    /// The next frame will be the first again.
    void rewind_capture() { capture_.reset(); }

    bool has_capture() const { return capture_ != nullptr; }
    /// True where the capture breaks off inside a packet.
    bool capture_is_cut() const { return capture_ && capture_->inside_block(); }
    std::uint64_t skipped_lines() const;
    const std::string& path() const { return path_; }

  private:
    std::string path_;
    struct RoleLog {
        std::string role;
        runlog::Tail tail;
    };
    std::vector<RoleLog> logs_;  // the server's first
    std::size_t reads_ = 0;      // which of them, as long as there is something in it
    std::unique_ptr<capture::PcapngTail> capture_;
};

}  // namespace timeline
