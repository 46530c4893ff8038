// One side of a program with RcConnections: a TCP connection to the peer, the device that routes to
// it, and a protection domain, as in lesson 06.
#pragma once

#include <chrono>
#include <functional>

#include "examples/common/program.hpp"
#include "examples/common/rc_connection.hpp"
#include "net/tcp.hpp"

namespace common {

/// The constructor's arguments must outlive it.
class RcEnd {
  public:
    /// Client: connects to the server. Throws util::Error, std::system_error.
    RcEnd(const ClientOptions& options, runlog::Log& log, util::StopSignal& stop);

    /// Uses an established connection. `time`: time limit of each wait. Throws util::Error if the
    /// connection's address does not belong to an RDMA device.
    RcEnd(net::Socket socket, runlog::Log& log, util::StopSignal& stop,
          std::chrono::milliseconds time);

    RcEnd(const RcEnd&) = delete;
    RcEnd& operator=(const RcEnd&) = delete;
    RcEnd(RcEnd&&) = delete;
    RcEnd& operator=(RcEnd&&) = delete;
    ~RcEnd() = default;

    const RcSide& side() const { return side_; }
    /// The remote address of the TCP connection.
    const util::Address& peer() const { return channel_.socket().peer; }

  private:
    net::TcpChannel channel_;
    rdma::DevicePort device_;
    rdma::Pd pd_;
    RcSide side_;
};

/// serve_each() with an RcEnd per client; drops a client whose host has vanished.
void serve_rc_clients(const util::Address& address, runlog::Log& log, util::StopSignal& stop,
                      const std::function<void(const RcSide&)>& serve);

}  // namespace common
