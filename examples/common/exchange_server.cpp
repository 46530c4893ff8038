#include "examples/common/exchange_server.hpp"

#include <exception>
#include <utility>

namespace common {

void serve_each(const util::Address& address, runlog::Log& log, util::StopSignal& stop,
                const std::function<void(net::Socket)>& serve) {
    net::TcpListener listener(address);
    const util::Address listening = listener.address();
    log.event("ready", {{"address", listening.host()}, {"port", listening.port()}});
    while (auto socket = listener.accept({stop, std::nullopt}))
        try {
            serve(*std::move(socket));
        } catch (const std::exception& error) {
            log.error(error.what());
        }
    log.note("stopped by a signal");
}

}  // namespace common
