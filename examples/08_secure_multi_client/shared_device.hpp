// What all clients of step 08's server share: the device, and the channel that tells whose
// completion queue has something.
#pragma once

#include <fcntl.h>
#include <optional>

#include "runlog/log.hpp"
#include "util/check.hpp"
#include "verbs/describe.hpp"
#include "verbs/device.hpp"

namespace step08 {

class SharedDevice {
  public:
    /// Opens the device that `address` belongs to, where none is open yet; true where it did.
    /// Throws util::Error where there is none.
    bool open(const util::Address& address, runlog::Log& log) {
        if (device_)
            return false;
        device_ = verbs::open_device_of(address);
        log.event("device", verbs::describe_device(context(), device_->gid.port, &device_->gid));
        channel_.reset(
            util::check_ptr(ibv_create_comp_channel(context()), "ibv_create_comp_channel"));
        util::check_errno(fcntl(channel_->fd, F_SETFL, O_NONBLOCK), "fcntl(O_NONBLOCK)");
        return true;
    }

    ibv_context* context() const { return device_->context.get(); }
    ibv_comp_channel* channel() const { return channel_.get(); }

    /// The device's entry for the address that a client has reached. Throws util::Error where that
    /// is another device's.
    verbs::Gid gid_for(const util::Address& address) const {
        return device_->gid.address().host() == address.host()
                   ? device_->gid
                   : verbs::choose_gid(context(), address);
    }

    /// The next completion queue that has something, and is asked to say so again; null where there
    /// is none. Does not wait.
    ibv_cq* next_event(void*& owner) const {
        ibv_cq* cq = nullptr;
        if (ibv_get_cq_event(channel(), &cq, &owner) != 0)
            return nullptr;
        ibv_ack_cq_events(cq, 1);
        util::check_rc(ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
        return cq;
    }

  private:
    std::optional<verbs::DevicePort> device_;
    verbs::CompChannel channel_;
};

}  // namespace step08
