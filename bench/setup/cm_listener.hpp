// Lesson 01's server, for rdma_cm connections.
#pragma once

#include <map>
#include <memory>

#include "bench/setup/by_hand.hpp"
#include "rdma/cm_handles.hpp"
#include "util/address.hpp"
#include "util/stop_signal.hpp"

namespace bench {

class CmListener {
  public:
    /// Throws std::system_error naming the call.
    explicit CmListener(util::Address address);

    /// Readable if an event is pending.
    int fd() const { return channel_->fd; }
    bool is_idle() const { return sessions_.empty(); }

    /// Accepts a connection, or cleans up. Throws std::system_error naming the call.
    void take_event(util::StopSignal& stop);

  private:
    struct Session {
        rdma::CmId id;
        Resources resources;
        rdma::CmQp qp{};

        explicit Session(rdma::CmId client);
    };
    static void accept(Session& session);

    rdma::EventChannel channel_;
    rdma::CmId listener_;
    std::map<rdma_cm_id*, std::unique_ptr<Session>> sessions_;
};

}  // namespace bench
