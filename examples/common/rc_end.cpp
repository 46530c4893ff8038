#include "examples/common/rc_end.hpp"

#include <utility>

#include "examples/common/exchange_server.hpp"
#include "util/check.hpp"

namespace common {
namespace {

constexpr std::chrono::milliseconds exchange_limit{30'000};

net::Socket connect(const ClientOptions& options, util::StopSignal& stop) {
    const util::Address server = options.resolve_server();
    return net::connect_tcp(server, options.local.resolve(0, server.is_ipv6()),
                            {stop, util::deadline_in(options.timeout)});
}

}  // namespace

RcEnd::RcEnd(const ClientOptions& options, runlog::Log& log, util::StopSignal& stop)
    : RcEnd(connect(options, stop), log, stop, options.timeout) {}

RcEnd::RcEnd(net::Socket socket, runlog::Log& log, util::StopSignal& stop,
             std::chrono::milliseconds time)
    : channel_(std::move(socket)),
      device_(rdma::open_device_of(channel_.socket().local())),
      pd_(CHECK_PTR(ibv_alloc_pd(device_.context.get()))),
      side_{channel_, device_.context.get(), device_.gid, pd_.get(), log, stop, time} {}

void serve_rc_clients(const util::Address& address, runlog::Log& log, util::StopSignal& stop,
                      const std::function<void(const RcSide&)>& serve) {
    serve_each(address, log, stop, [&](net::Socket client) {
        net::notice_when_gone(client);
        const RcEnd end(std::move(client), log, stop, exchange_limit);
        serve(end.side());
    });
}

}  // namespace common
