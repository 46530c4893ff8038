// What the RDMA device counts of losses. The names are rxe's (the kernel's
// drivers/infiniband/sw/rxe/rxe_hw_counters.c); a network card has others, and counts there as 0.
// They are the device's: other programs' packets are in them, too.
#pragma once

#include <thread>

#include "rdma/counters.hpp"
#include "rdma/device.hpp"
#include "util/stop_signal.hpp"

namespace common {

class Counted {
  public:
    explicit Counted(const ibv_context* context, const rdma::Gid& gid)
        : device_(ibv_get_device_name(context->device)), port_(gid.port), before_(read()) {}

    /// By how much it has grown since. The kernel answers with values that are up to 12 ms old
    /// (hw_counters/lifespan).
    std::uint64_t since(const std::string& name) const {
        if (now_.empty()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(15));
            now_ = read();
        }
        const auto now = now_.find(name);
        const auto before = before_.find(name);
        return now == now_.end() || before == before_.end() ? 0 : now->second - before->second;
    }

  private:
    rdma::Counters read() const { return rdma::read_counters(device_, port_); }

    std::string device_;
    unsigned port_;
    rdma::Counters before_;
    mutable rdma::Counters now_;
};

}  // namespace common
