// Step 01's server: the passive side of rdma_cm's connections.
#pragma once

#include <map>
#include <memory>

#include "bench/setup/by_hand.hpp"
#include "cm/handles.hpp"
#include "util/address.hpp"
#include "util/stop_signal.hpp"

namespace bench {

class CmListener {
  public:
    /// Throws std::system_error naming the call.
    explicit CmListener(util::Address address);

    /// Readable where an event waits.
    int fd() const { return channel_->fd; }
    bool is_idle() const { return sessions_.empty(); }

    /// Accepts, or cleans up. Throws std::system_error naming the call.
    void take_event(util::StopSignal& stop);

  private:
    struct Session {
        cm::Id id;
        Resources resources;
        cm::Qp qp{};

        explicit Session(cm::Id client);
    };
    static void accept(Session& session);

    cm::EventChannel channel_;
    cm::Id listener_;
    std::map<rdma_cm_id*, std::unique_ptr<Session>> sessions_;
};

}  // namespace bench
