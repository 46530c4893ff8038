// Lesson 22, the client: transfers the same bytes by RDMA WRITE, TCP, and TCP with MSG_ZEROCOPY, and
// measures the time and the CPU time of both hosts.
#include <string>
#include <vector>

#include "examples/common/rc_end.hpp"
#include "outcome.hpp"
#include "rdma.hpp"
#include "tcp.hpp"
#include "util/limits.hpp"

namespace {

using lesson22::Ask;
using lesson22::Outcome;
using lesson22::Plan;
using lesson22::Task;

struct Options {
    common::ClientOptions client;
    std::string transport = "all";
    std::uint64_t size = 1 << 30;
    std::uint64_t chunk = 1 << 20;
    std::uint64_t buffer = 64 << 20;
    lesson22::Depth depth;
    std::string csv;
};

const std::vector<std::string> transports{"rdma", "tcp", "tcp-zerocopy"};

Outcome move_bytes(const common::RcSide& side, util::Address server, const std::string& transport,
                   const Plan& plan, const lesson22::Depth& depth, std::vector<std::byte>& source) {
    Outcome outcome{.transport = transport, .plan = plan};
    outcome.expected_crc = plan.expected_crc(source);
    lesson22::Meter meter(transport, plan.size);

    // 1. The server allocates memory and reports that it is ready.
    Ask{transport == "rdma" ? Task::Write : Task::Stream, plan}.send(side.channel, side.limit());
    const auto ready = lesson22::Ready::receive(side.channel, side.limit());

    // 2. Transfer the bytes. Only this part is timed.
    if (transport == "rdma") {
        lesson22::write_all(side, plan, depth, source, meter, outcome.client);
    } else {
        server.set_port(ready.port);
        const net::Socket socket = net::connect_tcp(server, std::nullopt, side.limit());
        lesson22::Stream stream{.is_zerocopy = transport == "tcp-zerocopy"};
        lesson22::send_all(side, socket, plan, source, stream, meter);
        outcome.client = stream.used;
        meter.wipe();
        if (stream.is_zerocopy)
            side.log.note(
                fmt::format("of {} calls with MSG_ZEROCOPY, the kernel copied the data of {}",
                            stream.calls, stream.copied));
    }
    side.barrier();

    // 3. Compare the bytes: the server reports the CRC-32 of its memory.
    outcome.server = lesson22::Result::receive(side.channel, side.limit());
    outcome.elapsed_ns = meter.elapsed_ns();
    outcome.mib_per_s = meter.mib_per_s();
    meter.wipe();
    meter.write(side.log);
    side.log.event("bulk", outcome.fields());
    return outcome;
}

std::vector<std::string> chosen(const Options& options, runlog::Log& log) {
    if (!lesson22::has_zerocopy()) {
        if (options.transport == "tcp-zerocopy")
            throw util::Error("--transport tcp-zerocopy: this kernel has no MSG_ZEROCOPY.");
        log.note("this kernel has no MSG_ZEROCOPY: that transport is skipped");
    }
    if (options.transport == "all")
        return {transports.begin(), transports.end() - (lesson22::has_zerocopy() ? 0 : 1)};
    if (std::ranges::find(transports, options.transport) == transports.end())
        throw util::Error(fmt::format("--transport is rdma, tcp, tcp-zerocopy or all, not '{}'.",
                                      options.transport));
    return {options.transport};
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const auto wanted = chosen(options, log);
    const Plan plan = Plan::of(options.size, options.chunk, options.buffer);
    if (options.depth.signal_every > options.depth.requests)
        throw util::Error(
            fmt::format("--signal-every {} is more than --depth {}: the send queue would be full "
                        "before the first completion. Choose at most --depth.",
                        options.depth.signal_every, options.depth.requests));
    if (plan.buffer > util::available_memory())
        throw util::Error(
            fmt::format("--buffer: {} MiB are more than the {} MiB available on this machine. "
                        "Choose a smaller buffer.",
                        plan.buffer >> 20, util::available_memory() >> 20));
    std::vector<std::byte> source = common::unlike_bytes(plan.buffer);

    const common::RcEnd end(options.client, log, stop);
    const common::RcSide& side = end.side();

    std::vector<Outcome> outcomes;
    outcomes.reserve(wanted.size());
    for (const std::string& transport : wanted)
        outcomes.push_back(move_bytes(side, end.peer(), transport, plan, options.depth, source));
    Ask{Task::Done, {}}.send(side.channel, side.limit());
    side.barrier();

    lesson22::write_table(outcomes, log);
    if (!options.csv.empty())
        lesson22::write_csv(options.csv, outcomes);
    for (const Outcome& outcome : outcomes)
        if (!outcome.is_intact())
            throw util::Error(outcome.transport +
                              ": the server's bytes differ from the bytes sent.");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client", "Lesson 22, client: transfers the same bytes by RDMA WRITE and by TCP, in turn.");
    Options options;
    options.client.timeout = std::chrono::seconds(30);
    command_line.add(options.client);
    command_line.text("--transport", options.transport,
                      "rdma, tcp, tcp-zerocopy, or all in turn [all]");
    command_line.size("--size", options.size, 1, std::uint64_t{1} << 40,
                      "Bytes to transfer, in whole chunks [1GiB]");
    command_line.size("--chunk", options.chunk, 1, 1 << 30,
                      "Bytes of each WRITE and each send(2) [1MiB]");
    command_line.size("--buffer", options.buffer, 1, std::uint64_t{1} << 34,
                      "Buffer at each end, used repeatedly [64MiB]");
    command_line.number("--depth", options.depth.requests, 1, 1024,
                        "WRITEs outstanding at the same time");
    command_line.number("--signal-every", options.depth.signal_every, 1, 1024,
                        "Signal one WRITE in N");
    command_line.text("--csv", options.csv, "Also write the table to this file");
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
