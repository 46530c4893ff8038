// The server of the exchange over TCP: serves one client after the other.
#pragma once

#include <functional>

#include "net/tcp.hpp"
#include "runlog/log.hpp"
#include "util/address.hpp"
#include "util/stop_signal.hpp"

namespace common {

/// Listens, logs "ready", and serves each client until a stop is requested. A failure with one
/// client is logged, and the next one is served. Throws std::system_error if it cannot listen.
void serve_each(const util::Address& address, runlog::Log& log, util::StopSignal& stop,
                const std::function<void(net::Socket)>& serve);

}  // namespace common
