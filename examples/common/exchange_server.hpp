// The server of an exchange by hand: one client after the other, over TCP connections.
#pragma once

#include <functional>

#include "net/tcp.hpp"
#include "runlog/log.hpp"
#include "util/address.hpp"
#include "util/stop_signal.hpp"

namespace common {

/// Listens, says that it is ready, and serves each client until a stop is requested. What goes
/// wrong with one is logged, and the next one is served. Throws std::system_error where it cannot
/// listen.
void serve_each(const util::Address& address, runlog::Log& log, util::StopSignal& stop,
                const std::function<void(net::Socket)>& serve);

}  // namespace common
