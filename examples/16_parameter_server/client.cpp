// Step 16, the active side: workers of a parameter server. Each has a connection of its own, and a
// part of the data.
#include <future>
#include <memory>
#include <vector>

#include "examples/common/program.hpp"
#include "worker.hpp"

namespace {

using step16::Worker;

struct Options {
    common::ClientOptions client;
    std::uint64_t clients = 1;
    std::uint64_t workers = 0;
    std::uint64_t steps = 4;
    bool torn = false;
};

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const std::uint64_t here = options.workers != 0   ? options.workers
                               : options.clients == 1 ? 3
                                                      : 1;
    const step16::Job job{.workers = static_cast<std::uint16_t>(here * options.clients),
                          .steps = static_cast<std::uint16_t>(options.steps)};
    const step16::Data data;
    std::vector<std::unique_ptr<Worker>> workers;
    while (workers.size() < here)
        workers.push_back(std::make_unique<Worker>(options.client, job, log, stop));

    std::vector<std::future<step16::Weights>> all;
    all.reserve(workers.size());
    for (const auto& worker : workers)
        all.push_back(std::async(std::launch::async, [&] {
            return worker->train(data, options.torn && worker->rank() == 0);
        }));
    std::vector<step16::Weights> ends;
    ends.reserve(all.size());
    for (auto& one : all)
        ends.push_back(one.get());
    for (const step16::Weights& weights : ends)
        if (weights != ends.front())
            throw util::Error("two workers have different weights at the end.");
    log.event("check",
              {{"verdict", "good"},
               {"what", fmt::format("{} worker{} here: {} steps, and the same weights at the end",
                                    here, here == 1 ? "" : "s", job.steps)}});
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client", "Step 16, client: workers that train one model at a parameter server.");
    Options options;
    command_line.add(options.client);
    command_line.number("--clients", options.clients, 1, 100,
                        "Programs like this one, with as many workers, that work together");
    command_line.number("--workers", options.workers, 0, 100,
                        "Workers in this program; 0: 3 where it is alone, else 1");
    command_line.number("--steps", options.steps, 1, 1000, "Steps of gradient descent");
    command_line.flag("--torn", options.torn,
                      "Let one pull of rank 0 overlap with an update, to see it found out");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}
