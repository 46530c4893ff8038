// Lesson 23, the client: one or several workers of a parameter server, which take turns. Each has its
// own connection and its own part of the data.
#include <deque>

#include "examples/common/tracer.hpp"
#include "torn.hpp"

namespace {

using lesson23::Worker;

struct Options {
    common::ClientOptions client;
    std::uint64_t clients = 1;
    std::uint64_t workers = 0;
    std::uint64_t steps = 4;
    bool torn = false;
};

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    // 1. Connect. The server begins when all workers of the job have connected.
    const std::uint64_t alone = options.clients == 1 ? 3 : 1;
    const std::uint64_t here = options.workers != 0 ? options.workers : alone;
    const lesson23::Job job{.workers = static_cast<std::uint16_t>(here * options.clients),
                            .steps = static_cast<std::uint16_t>(options.steps)};
    const lesson23::Data data;
    std::deque<Worker> workers;
    while (workers.size() < here)
        workers.emplace_back(options.client, job, log, stop);

    // 2. Pull, compute, push. Rank 0 is last: with --torn it waits for the update that its own
    // gradient triggers.
    for (std::uint16_t step = 1; step <= job.steps; ++step)
        for (auto next = workers.rbegin(); next != workers.rend(); ++next) {
            Worker& worker = *next;
            const std::uint16_t rank = worker.place.rank;
            lesson23::pull(worker, step, log, stop);
            worker.gradient = data.gradient(worker.block.weights, rank, job.workers);
            if (options.torn && step == 1 && rank == 0)
                lesson23::push_and_read_torn(worker, step, log, stop);
            else
                lesson23::push(worker, lesson23::Notice::of(rank, step));
        }

    // 3. All workers must have the same final weights.
    for (Worker& worker : workers) {
        lesson23::pull(worker, job.steps + 1U, log, stop);
        worker.client.disconnect();
        if (worker.block.weights != workers.front().block.weights)
            throw util::Error("two workers have different weights at the end.");
    }
    log.event("check",
              {{"verdict", "good"},
               {"what", fmt::format("{} worker{} here: {} steps, and the same weights at the end",
                                    here, here == 1 ? "" : "s", job.steps)}});
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client", "Lesson 23, client: runs workers that train one model at a parameter server.");
    Options options;
    command_line.add(options.client);
    command_line.number("--clients", options.clients, 1, 100,
                        "Number of these programs, each with the same number of workers");
    command_line.number("--workers", options.workers, 0, 100,
                        "Workers in this program; 0: 3 if it is the only program, otherwise 1");
    command_line.number("--steps", options.steps, 1, 1000, "Steps of gradient descent");
    command_line.flag("--torn", options.torn,
                      "Let one pull of rank 0 overlap with an update, to test the detection");
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
