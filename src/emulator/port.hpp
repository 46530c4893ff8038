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
    std::uint64_t bytes_in = 0;   ///< of frames, without their lengths
    std::uint64_t frames_out = 0;
    std::uint64_t bytes_out = 0;
    std::uint64_t undelivered = 0;  ///< the host was not there, or took nothing for too long
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

    /// False where nobody listens there (yet). Throws util::Error for an invalid address.
    bool connect();
    void disconnect();

    using EachFrame = std::function<void(util::Bytes)>;
    /// Reads what is there, a buffer of it at most. False: the host has gone. Throws NotFrames.
    bool receive(const EachFrame& each);

    /// Behind what waits already; flush() sends it. The frame is dropped where the host is not
    /// there.
    void send(util::Bytes frame);
    /// Sends what the socket takes. False: the host has gone.
    bool flush();
    /// Bytes that the socket has not taken.
    std::size_t backlog() const { return out_.size() - sent_; }
    /// Drops what waits but for the frame that is half sent.
    void drop_backlog();

  private:
    /// The end of the frames in out_ that were sent; of the one that is half sent, too.
    std::size_t behind_sent(bool half_too) const;

    std::string name_;
    std::string address_;
    util::Fd fd_;
    FrameReader reader_;
    std::vector<std::byte> out_;  // begins with a frame
    std::size_t sent_ = 0;        // bytes of it
    PortCounters counters_;
};

}  // namespace emulator
