// The passive end of one transfer measurement: serves one client and exits.
#include "bench/transfer/end.hpp"
#include "examples/common/program.hpp"
#include "util/error.hpp"

namespace {

struct Options {
    common::ServerOptions server;
    bench::PlanOptions plan;
};

constexpr std::chrono::minutes longest{2};

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const bench::Plan plan = bench::plan_of(options.plan);
    const util::Address address = options.server.address();
    net::TcpListener listener(address);
    log.event("ready", {{"address", address.host()}, {"port", address.port()}});
    const net::TimeLimit limit{stop, util::deadline_in(longest)};
    auto socket = listener.accept(limit);
    if (!socket)
        throw util::Error("no client connected within two minutes.");
    net::TcpChannel channel(std::move(*socket));
    bench::measure(channel, bench::End::Passive, plan, log, limit);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("server",
                                     "Bandwidth and latency of RDMA and TCP: the server.");
    Options options;
    options.server.port = bench::transfer_port;
    command_line.add(options.server);
    add(command_line, options.plan);
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}
