// Lesson 08, the server: what all clients connected to one local address share.
#pragma once

#include <fcntl.h>

#include "examples/06_verbs_tcp_exchange/connection.hpp"

namespace lesson08 {

/// The open device, and the channel for the events of all completion queues.
struct SharedDevice {
    lesson06::Port port;
    rdma::CompChannel channel;

    explicit SharedDevice(const util::Address& address)
        : port(lesson06::open_port(address)),
          channel(CHECK_PTR(ibv_create_comp_channel(port.context.get()))) {
        // ibv_get_cq_event() then returns immediately if there is no event.
        util::check_errno(fcntl(channel->fd, F_SETFL, O_NONBLOCK), "fcntl(O_NONBLOCK)");
    }
};

}  // namespace lesson08
