// Lesson 22, the server: exposes memory to WRITEs or receives a stream into it, and reports the
// contents and the cost.
#include <vector>

#include "examples/common/rc_end.hpp"
#include "rdma.hpp"
#include "tcp.hpp"
#include "util/limits.hpp"

namespace {

using lesson22::Ask;
using lesson22::Task;

void check_memory(std::uint64_t wanted) {
    if (const auto available = util::available_memory(); wanted > available)
        throw util::Error(
            fmt::format("the client requests a buffer of {} MiB, and this machine has {} MiB "
                        "available: give the client a smaller --buffer.",
                        wanted >> 20, available >> 20));
}

void serve(const common::RcSide& side, const util::Address& address) {
    while (true) {
        const Ask ask = Ask::receive(side.channel, {side.stop, std::nullopt});
        if (ask.task == Task::Done)
            return side.barrier();
        check_memory(ask.plan.buffer);
        const auto result = ask.task == Task::Write
                                ? lesson22::expose(side, ask.plan)
                                : lesson22::receive_stream(side, address, ask.plan);
        result.send(side.channel, side.limit());
    }
}

int run(const common::ServerOptions& options, runlog::Log& log, util::StopSignal& stop) {
    if (options.port == 65535)
        throw util::Error("--port is at most 65534: the TCP stream has the port after it.");
    const util::Address address = options.address();
    common::serve_rc_clients(address, log, stop,
                             [&](const common::RcSide& side) { serve(side, address); });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server",
        "Lesson 22, server: receives bytes by RDMA WRITE and by TCP. The TCP stream\n"
        "has a port of its own, the one after --port.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
