// The RDMA device's loss counters. The names are rxe's (the kernel's
// drivers/infiniband/sw/rxe/rxe_hw_counters.c); other devices' counters have other names and read
// as 0. The counters are per device: they include other programs' packets.
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

    /// Returns the increase since construction or, if the counter was reset since then, its value.
    /// The kernel's values are up to 12 ms old (hw_counters/lifespan).
    std::uint64_t since(const std::string& name) const {
        if (now_.empty()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(15));
            now_ = read();
        }
        return rdma::increase(before_, now_, name);
    }

  private:
    rdma::Counters read() const { return rdma::read_counters(device_, port_); }

    std::string device_;
    unsigned port_;
    rdma::Counters before_;
    mutable rdma::Counters now_;
};

}  // namespace common
