// One end of a program whose links are made by hand (RcConnection): a TCP connection to the peer, the
// device that is on the way to it, and a protection domain. Step 06 writes it out.
#pragma once

#include <chrono>
#include <functional>

#include "examples/common/program.hpp"
#include "examples/common/rc_connection.hpp"
#include "net/tcp.hpp"

namespace common {

/// What it is made with must outlive it.
class RcEnd {
  public:
    /// The client's: connects to its server. Throws util::Error, std::system_error.
    RcEnd(const ClientOptions& options, runlog::Log& log, util::StopSignal& stop);

    /// Of a connection that there is. `time`: for whatever is waited for. Throws util::Error where
    /// its address is no RDMA device's.
    RcEnd(net::Socket socket, runlog::Log& log, util::StopSignal& stop,
          std::chrono::milliseconds time);

    RcEnd(const RcEnd&) = delete;
    RcEnd& operator=(const RcEnd&) = delete;
    RcEnd(RcEnd&&) = delete;
    RcEnd& operator=(RcEnd&&) = delete;
    ~RcEnd() = default;

    const RcSide& side() const { return side_; }
    /// The TCP connection's other end.
    const util::Address& peer() const { return channel_.socket().peer; }

  private:
    net::TcpChannel channel_;
    rdma::DevicePort device_;
    rdma::Pd pd_;
    RcSide side_;
};

/// serve_each() with an end for each client; one whose machine has vanished is given up.
void serve_rc_clients(const util::Address& address, runlog::Log& log, util::StopSignal& stop,
                      const std::function<void(const RcSide&)>& serve);

}  // namespace common
