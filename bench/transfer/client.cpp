// The active end of one transfer measurement: see bench/transfer/run.
#include "bench/transfer/end.hpp"
#include "examples/common/program.hpp"

namespace {

struct Options {
    common::ClientOptions client;
    bench::PlanOptions plan;
};

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const bench::Plan plan = bench::plan_of(options.plan);
    const net::TimeLimit limit{stop, util::deadline_in(options.client.timeout)};
    const util::Address server = options.client.resolve_server();
    net::TcpChannel channel(
        net::connect_tcp(server, options.client.local.resolve(0, server.is_ipv6()), limit));
    bench::measure(channel, bench::End::Active, plan, log, limit);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("client",
                                     "Bandwidth and latency of RDMA and TCP: the client.");
    Options options;
    options.client.port = bench::transfer_port;
    options.client.timeout = std::chrono::minutes(2);  // for the whole measurement
    command_line.add(options.client);
    add(command_line, options.plan);
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}
