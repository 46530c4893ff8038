// The client of one measured connection.
#pragma once

#include <array>
#include <chrono>
#include <memory>

#include "bench/setup/method.hpp"
#include "examples/common/program.hpp"
#include "net/tls.hpp"
#include "rdma/cm_handles.hpp"
#include "rdma/device.hpp"

namespace bench {

using Nanoseconds = std::chrono::nanoseconds;

struct Sample {
    std::array<Nanoseconds, phase_names.size()> phases{};
    Nanoseconds total{};       ///< from the first call to the completion of a WRITE of one byte
    Nanoseconds connected{};   ///< the part of it until the queue pair can send
    bool was_resumed = false;  ///< TLS session
};

/// Each phase ends when the next one begins, with a single clock reading: they add up to the total.
class Stopwatch {
  public:
    void lap(Phase phase);
    Sample sample;

  private:
    util::Clock::time_point start_ = util::Clock::now();
    util::Clock::time_point last_ = start_;
};

class Client {
  public:
    /// Opens what a process needs once: the device, the TLS contexts, the event channel of rdma_cm,
    /// and the control connection. Throws util::Error, std::system_error.
    Client(const common::ClientOptions& options, const common::SecureOptions& secure,
           runlog::Log& log, util::StopSignal& stop);

    /// Waits until the server is idle, connects, writes one byte, and disconnects.
    Sample connect(const Method& method);

  private:
    Sample by_cm(const Method& method);
    Sample by_hand(const Method& method);
    Sample over(net::Channel& channel, const Method& method, const util::Address& local,
                Stopwatch watch);
    net::TlsContext& context_of(const Method& method);
    net::TimeLimit limit() const;

    util::StopSignal& stop_;
    std::chrono::milliseconds timeout_;
    util::Address server_;
    net::TcpChannel control_;
    std::unique_ptr<net::TlsContext> full_, resuming_;
    std::unique_ptr<net::TlsChannel> kept_;
    rdma::DevicePort device_;
    rdma::EventChannel events_;
};

}  // namespace bench
