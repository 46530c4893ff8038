// Lesson 24, the client: all ranks except rank 0, or some of them. Each rank is a thread with its own
// connections and memory, as if it were a program.
#include <future>
#include <memory>
#include <vector>

#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "worker.hpp"

namespace {

using lesson24::Request;
using lesson24::Worker;

struct Options {
    common::ClientOptions client;
    std::uint64_t clients = 1;
    std::uint64_t ranks = 0;
    std::uint64_t rank = 0;
    std::uint64_t barriers = 3;
    std::uint64_t late = 2;
    bool no_barrier = false;
};

// If several ranks fail, throws the first one's error and logs the others as notes.
void run_all(const std::vector<std::unique_ptr<Worker>>& workers, runlog::Log& log) {
    std::vector<std::future<void>> all;
    all.reserve(workers.size());
    for (const auto& worker : workers)
        all.push_back(std::async(std::launch::async, [&worker] { worker->run(); }));
    std::exception_ptr first;
    for (auto& one : all)
        try {
            one.get();
        } catch (const std::exception& error) {
            if (first)
                log.note(error.what());
            else
                first = std::current_exception();
        }
    if (first)
        std::rethrow_exception(first);
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const std::uint64_t ranks = options.ranks != 0     ? options.ranks
                                : options.clients == 1 ? 4
                                                       : options.clients + 1;
    const bool is_one = options.rank != 0;
    if (!is_one && (ranks - 1) % options.clients != 0)
        throw util::Error(
            fmt::format("{} ranks without rank 0 cannot be divided equally among --clients {}.",
                        ranks - 1, options.clients));
    const Request request{
        .job = {.ranks = static_cast<std::uint16_t>(ranks),
                .barriers = static_cast<std::uint16_t>(options.barriers),
                .late = static_cast<std::uint16_t>(options.late),
                .no_barrier = options.no_barrier},
        .rank = is_one ? static_cast<std::uint16_t>(options.rank) : Request::any_rank};
    const std::uint64_t here = is_one ? 1 : (ranks - 1) / options.clients;
    std::vector<std::unique_ptr<Worker>> workers;
    while (workers.size() < here)
        workers.push_back(std::make_unique<Worker>(options.client, request, log, stop));
    run_all(workers, log);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("client",
                                     "Lesson 24, client: runs ranks that join rank 0, the server.");
    Options options;
    command_line.add(options.client);
    command_line.number("--ranks", options.ranks, 2, lesson24::most_ranks,
                        "Ranks in total, with rank 0 (default: 4, or one per program)");
    command_line.number("--clients", options.clients, 1, lesson24::most_ranks - 1,
                        "Number of these programs, each with the same number of ranks");
    command_line.number("--rank", options.rank, 1, 1000,
                        "Run only this rank in this program (default: the free ranks)");
    command_line.number("--barriers", options.barriers, 0, 100, "Barriers of each kind");
    command_line.number("--late", options.late, 0, 1000,
                        "Rank that is late at the first barrier of each kind, if any");
    command_line.flag("--no-barrier", options.no_barrier,
                      "Write into the ring without waiting until all ranks can receive");
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, log, stop);
                             }));
}
