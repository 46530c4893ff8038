// Lesson 26, each other rank: asks rank 0 for its number, and trains.
#include <cstdlib>
#include <ctime>
#include <optional>

#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "forger.hpp"
#include "training.hpp"
#include "watch.hpp"

namespace {

struct Options {
    common::ClientOptions client;
    std::uint64_t clients = 1;
    std::uint64_t steps = 3;
    std::uint64_t late = 0;
    bool seed = false;
    std::uint64_t forge = 0;  // 0: no
};

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    // Gloo takes its first PSNs from rand().
    if (options.seed)
        std::srand(static_cast<unsigned>(std::time(nullptr)));
    const util::Address server = options.client.resolve_server();
    lesson26::Line line(net::connect_tcp(server, options.client.local.resolve(0, server.is_ipv6()),
                                         {stop, util::deadline_in(options.client.timeout)}),
                        {stop, util::Deadline()});
    const int ranks = static_cast<int>(options.clients) + 1;
    line.send(static_cast<std::uint32_t>(ranks));
    line.send(static_cast<std::uint32_t>(options.steps));
    line.send(static_cast<std::uint32_t>(options.client.timeout.count()));
    const int rank = static_cast<int>(line.receive());

    const lesson26::Job job{.rank = rank,
                            .ranks = ranks,
                            .steps = options.steps,
                            .timeout = options.client.timeout,
                            .late = std::chrono::milliseconds(options.late)};
    // The attacker knows no more than what is written here: two addresses and a guess.
    std::optional<lesson26::Forger> forger;
    if (options.forge != 0) {
        lesson09::require_lab(server);
        forger.emplace(rdma::open_device_of(line.local()).gid.netdev(), line.local(), server,
                       static_cast<std::uint32_t>(options.forge), log);
    }
    const auto store = std::make_shared<lesson26::Member>(line);
    const auto context = lesson26::connect(job, store, line.local());
    store->done();
    {
        const lesson26::Watch watch({line.fd()}, stop, log);
        lesson26::train(job, context, log);
    }
    store->done();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("client",
                                     "Lesson 26, client: one rank of a training with all_reduce.");
    Options options;
    command_line.add(options.client);
    command_line.number("--clients", options.clients, 1, 99, "Number of these programs");
    command_line.number("--steps", options.steps, 1, 1000, "Steps of gradient descent");
    command_line.number("--late", options.late, 0, 60'000,
                        "Milliseconds that this rank takes longer to compute in step 2");
    command_line.number("--forge", options.forge, 1, 0xffffff,
                        "Also be an attacker, who forges the first chunk to the server's queue "
                        "pair with this number, or one of the next three. In the lab only");
    command_line.flag("--seed", options.seed, "Call srand() with the time before Gloo starts");
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
