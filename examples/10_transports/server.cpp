// Step 10, the server: receives over the transport that the client requests, and reports what
// arrived.
#include "datagrams.hpp"
#include "examples/common/exchange_server.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "multicast.hpp"
#include "net/tcp.hpp"
#include "shared_queue.hpp"
#include "transports.hpp"
#include "xrc.hpp"

namespace {

using step10::Part;

constexpr std::chrono::seconds timeout{10};

// Runs the parts of the lesson that the client requests, one after the other.
void serve(net::TcpChannel& channel, runlog::Log& log, util::StopSignal& stop) {
    step06::Port port = step06::open_port(channel.socket().local());
    rdma::Pd pd{util::check_ptr(ibv_alloc_pd(port.context.get()), "ibv_alloc_pd")};
    const step10::Side side{channel, std::move(port), std::move(pd), 0x5e1000, log, stop, timeout};
    while (true) {
        const step10::Request request = step10::receive_request(side);
        switch (request.part) {
            case Part::Rc:
            case Part::Uc:
            case Part::Ud:
                step10::receive_numbered(side, request);
                break;
            case Part::Datagrams:
                step10::receive_datagrams(side, request);
                break;
            case Part::Multicast:
                step10::receive_as_group(side, request);
                break;
            case Part::SharedQueue:
                step10::receive_in_shared_queue(side);
                break;
            case Part::Xrc:
                step10::receive_over_xrc(side);
                break;
            case Part::Done:
                side.barrier();
                return;
        }
    }
}

int run(const common::ServerOptions& options, runlog::Log& log, util::StopSignal& stop) {
    common::serve_each(options.address(), log, stop, [&](net::Socket socket) {
        net::TcpChannel channel(std::move(socket));
        serve(channel, log, stop);
    });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server", "Step 10, server: receives over RC, UC, UD or XRC, as the client requests.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, log, stop);
                             }));
}
