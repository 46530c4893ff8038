// Lesson 09, the server: its device's counters.
#pragma once

#include <optional>

#include "examples/06_verbs_tcp_exchange/connection.hpp"
#include "examples/common/program.hpp"
#include "rdma/counters.hpp"

namespace lesson09 {

/// Returns the counters once the device has received `received` packets, or at the deadline. The
/// kernel's values are up to 10 ms old (ib_core's "lifespan"); it renews all of them at once, which
/// may happen between two files.
inline rdma::Counters counters_after(std::uint64_t received, const lesson06::Port& port,
                                     util::StopSignal& stop, util::Deadline deadline) {
    const auto read = [&port] {
        return rdma::read_counters(ibv_get_device_name(port.context->device), port.number);
    };
    while (true) {
        const auto counters = read();
        const auto count = counters.find("rcvd_pkts");
        // The second time, no value is older than the number of packets of the first.
        if (count == counters.end() || count->second >= received || !common::nap(stop, deadline))
            return read();
    }
}

}  // namespace lesson09
