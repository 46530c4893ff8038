// A reliable connection without rdma_cm, as in lesson 06, for later lessons. Both sides construct one
// at the same time, over an existing channel.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "examples/common/rc_states.hpp"
#include "examples/common/request.hpp"
#include "net/channel.hpp"
#include "rdma/device.hpp"
#include "rdma/handles.hpp"
#include "runlog/log.hpp"

namespace common {

/// What all connections of a program share. The references must outlive them.
struct RcSide {
    net::Channel& channel;
    ibv_context* context;
    const rdma::Gid& gid;
    ibv_pd* pd;
    runlog::Log& log;
    util::StopSignal& stop;
    std::chrono::milliseconds time;  // time limit of each wait

    net::TimeLimit limit() const { return {stop, util::deadline_in(time)}; }
    void barrier() const { net::barrier(channel, limit()); }
    /// Waits for the peer without a time limit; ends with an error when the channel is closed.
    void barrier_without_limit() const { net::barrier(channel, {stop, std::nullopt}); }
    /// For loops that may never wait. Throws util::Error if a stop was requested.
    void check_stop() const;
};

class RcConnection {
  public:
    struct Wanted {
        ibv_cq* cq = nullptr;  // for sends and receives
        std::uint32_t first_psn = 0;
        std::uint32_t max_send_wr = 1;
        std::optional<RetryPolicy> retry = RetryPolicy{};  // nullopt: stays in RTR
        unsigned path_mtu = 4096;  // bytes, upper limit; the device or the peer may support less
        std::uint32_t max_recv_wr = 1;
        int access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;  // for the peer's requests
        std::uint8_t traffic_class = 0;   // DSCP and ECN of sent packets
        std::uint8_t reads = 1;           // outstanding READs and atomics in each direction
        const ibv_mr* exposed = nullptr;  // memory whose address and rkey are sent to the peer
    };

    /// Moves the queue pair to RTS. The caller must not send before the next barrier: the peer may
    /// not be in RTR yet. Throws util::Error, std::system_error.
    RcConnection(const RcSide& side, const Wanted& wanted);

    ibv_qp* qp() const { return qp_.get(); }
    /// Address and rkey of the peer's `exposed` memory.
    const RemoteMemory& remote() const { return remote_; }
    std::uint64_t remote_length() const { return remote_length_; }
    unsigned path_mtu() const { return path_mtu_; }

  private:
    rdma::Qp qp_;
    RemoteMemory remote_;
    std::uint64_t remote_length_ = 0;
    unsigned path_mtu_ = 0;
};

}  // namespace common
