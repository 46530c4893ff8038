// One host's end of the link: a connection to the socket that its QEMU listens on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "emulator/frame_reader.hpp"
#include "util/fd.hpp"

namespace emulator {

struct PortCounters {
    std::uint64_t frames_in = 0;  ///< from the host
    std::uint64_t bytes_in = 0;   ///< without the 4-byte lengths
    std::uint64_t frames_out = 0;
    std::uint64_t bytes_out = 0;
    std::uint64_t undelivered = 0;  ///< the host was not connected, or did not read for too long
    std::uint64_t too_short = 0;
    std::uint64_t connections = 0;
};

class Port {
  public:
    /// `address`: the path of a Unix socket, or "tcp:127.0.0.1:PORT".
    Port(std::string name, std::string address)
        : name_(std::move(name)), address_(std::move(address)) {}

    const std::string& name() const { return name_; }
    const std::string& address() const { return address_; }
    bool is_connected() const { return static_cast<bool>(fd_); }
    int fd() const { return fd_.get(); }
    const PortCounters& counters() const { return counters_; }

    /// Returns false if nothing listens at the address (yet). Throws util::Error if it is invalid.
    bool connect();
    void disconnect();

    using EachFrame = std::function<void(util::Bytes)>;
    /// Reads at most one buffer. Returns false if the host has disconnected. Throws NotFrames.
    bool receive(const EachFrame& each);

    /// Queues a frame; flush() sends it. Drops the frame if the host is not connected.
    void send(util::Bytes frame);
    /// Sends as much as the socket accepts. Returns false if the host has disconnected.
    bool flush();
    /// Bytes not yet accepted by the socket.
    std::size_t backlog() const { return out_.size() - sent_; }
    /// Drops all queued frames except a partially sent one.
    void drop_backlog();

  private:
    /// End of the sent frames in out_. `half_too`: includes a partially sent frame.
    std::size_t behind_sent(bool half_too) const;

    std::string name_;
    std::string address_;
    util::Fd fd_;
    FrameReader reader_;
    std::vector<std::byte> out_;  // starts at a frame boundary
    std::size_t sent_ = 0;        // bytes of out_ already sent
    PortCounters counters_;
};

}  // namespace emulator
