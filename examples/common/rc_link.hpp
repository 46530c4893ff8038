// A reliable connection by hand, as step 06 writes it out, for the steps behind it: both ends make
// one at the same time, over the channel that they have.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "examples/common/request.hpp"
#include "exchange/channel.hpp"
#include "runlog/log.hpp"
#include "verbs/device.hpp"
#include "verbs/handles.hpp"
#include "verbs/rc_states.hpp"

namespace common {

/// What all links of a program have in common. The references must outlive them.
struct LinkSide {
    exchange::Channel& channel;
    ibv_context* context;
    const verbs::Gid& gid;
    ibv_pd* pd;
    runlog::Log& log;
    util::StopSignal& stop;
    std::chrono::milliseconds time;  // for whatever is waited for

    exchange::Patience patience() const { return {stop, util::deadline_in(time)}; }
    void meet() const { exchange::meet(channel, patience()); }
    /// However long the peer takes: its end of the connection ends the wait.
    void meet_at_last() const { exchange::meet(channel, {stop, std::nullopt}); }
    /// For loops that may find all they wait for, and so never wait. Throws util::Error.
    void check_stop() const;
};

class RcLink {
  public:
    struct Wanted {
        ibv_cq* cq = nullptr;  // of sends and receives
        std::uint32_t first_psn = 0;
        std::uint32_t max_send_wr = 1;
        verbs::RetryPolicy retry{};
        unsigned path_mtu = 4096;  // bytes, at most; the device and the peer may have less
        std::uint32_t max_recv_wr = 1;
        int access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;  // of the peer's requests
        std::uint8_t traffic_class = 0;  // DSCP and ECN of what is sent
        std::uint8_t reads = 1;          // READs and atomics under way at once, each way
    };

    /// In RTS; but the peer may not be yet: LinkSide::meet(). `lent`: null where nothing is. Throws
    /// util::Error, std::system_error.
    RcLink(const LinkSide& side, const Wanted& wanted, const ibv_mr* lent = nullptr);

    ibv_qp* qp() const { return qp_.get(); }
    const RemoteMemory& remote() const { return remote_; }
    std::uint64_t remote_length() const { return remote_length_; }
    unsigned path_mtu() const { return path_mtu_; }

  private:
    verbs::Qp qp_;
    RemoteMemory remote_;
    std::uint64_t remote_length_ = 0;
    unsigned path_mtu_ = 0;
};

}  // namespace common
