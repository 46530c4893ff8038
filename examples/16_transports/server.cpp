// Lesson 16, the server: receives over the transport that the client requests, and reports what
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

using lesson16::Part;

constexpr std::chrono::seconds timeout{10};

// Runs the parts of the lesson that the client requests, one after the other.
void serve(net::TcpChannel& channel, runlog::Log& log, util::StopSignal& stop) {
    lesson06::Port port = lesson06::open_port(channel.socket().local());
    rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(port.context.get()))};
    const lesson16::Side side{channel, std::move(port), std::move(pd), 0x5e1000, log,
                              stop,    timeout};
    while (true) {
        const lesson16::Request request = lesson16::receive_request(side);
        switch (request.part) {
            case Part::Rc:
            case Part::Uc:
            case Part::Ud:
                lesson16::receive_numbered(side, request);
                break;
            case Part::Datagrams:
                lesson16::receive_datagrams(side, request);
                break;
            case Part::Multicast:
                lesson16::receive_as_group(side, request);
                break;
            case Part::SharedQueue:
                lesson16::receive_in_shared_queue(side);
                break;
            case Part::Xrc:
                lesson16::receive_over_xrc(side);
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
        "server", "Lesson 16, server: receives over RC, UC, UD or XRC, as the client requests.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, log, stop);
                             }));
}
