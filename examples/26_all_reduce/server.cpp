// Lesson 26, rank 0: passes on the addresses of the ranks, and trains like all of them.
#include <fmt/format.h>

#include "examples/common/exchange_server.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "training.hpp"
#include "watch.hpp"

namespace {

using lesson26::Line;

constexpr std::uint32_t most_ranks = 100;

int run(const common::ServerOptions& options, runlog::Log& log, util::StopSignal& stop) {
    std::deque<Line> lines;
    std::uint32_t ranks = 0, steps = 0;
    common::serve_each(options.address(), log, stop, [&](net::Socket socket) {
        constexpr std::chrono::seconds meeting_time{30};
        const net::TimeLimit limit{stop, util::deadline_in(meeting_time)};
        try {
            // 1. The first rank says how large the job is; all must say the same.
            Line& line = lines.emplace_back(std::move(socket), limit);
            const std::uint32_t its_ranks = line.receive(), its_steps = line.receive();
            const std::chrono::milliseconds timeout(line.receive());
            if (its_ranks < 2 || its_ranks > most_ranks || its_steps == 0 ||
                (lines.size() > 1 && (its_ranks != ranks || its_steps != steps)))
                throw util::Error(
                    fmt::format("a client wants a job of {} ranks and {} steps: use 2 to {} ranks, "
                                "and the same "
                                "options for each client.",
                                its_ranks, its_steps, most_ranks));
            ranks = its_ranks;
            steps = its_steps;
            line.send(static_cast<std::uint32_t>(lines.size()));  // its rank
            if (lines.size() + 1 < ranks)
                return;

            // 2. All are here.
            const lesson26::Job job{
                .rank = 0, .ranks = static_cast<int>(ranks), .steps = steps, .timeout = timeout};
            const auto store = std::make_shared<lesson26::Leader>(lines, stop);
            const auto context = lesson26::connect(job, store, line.local());
            store->serve_until_done();
            std::vector<int> fds;
            fds.reserve(lines.size());
            for (Line& other : lines) {
                other.lift_limit();
                fds.push_back(other.fd());
            }
            {
                const lesson26::Watch watch(std::move(fds), stop, log);
                lesson26::train(job, context, log);
            }
            store->serve_until_done();
        } catch (const std::exception&) {
            lines.clear();
            throw;
        }
        lines.clear();
    });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("server",
                                     "Lesson 26, server: rank 0 of a training with all_reduce.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
