// Lesson 23, provokes a torn read: the pull reads the version before the update, and the weights when
// half of them are written.
#pragma once

#include "pull.hpp"

namespace lesson23 {

/// Pushes the gradient of this step during a pull, and then pulls the weights of the next step. The
/// other workers push theirs independently.
inline void push_and_read_torn(Worker& worker, std::uint16_t step, runlog::Log& log,
                               util::StopSignal& stop) {
    const std::uint32_t notice = Notice::of(worker.place.rank, step);
    const Weights old = worker.block.weights;

    // 1. Read the version; then start the update, which the server pauses halfway.
    const std::uint64_t before = read_version(worker);
    push(worker, notice | Notice::stop_halfway);
    const util::Deadline deadline = util::deadline_in(time_limit);
    while (is_resting(read_version(worker)))
        if (util::is_past(deadline) || stop.requested())
            throw util::Error(stop.requested() ? "stopped by a signal."
                                               : "the server does not update its weights.");

    // 2. Read the weights, and the version again.
    read(worker, offsetof(Block, weights), sizeof(Weights));
    const Weights seen = worker.block.weights;
    if (is_whole(worker, before, read_version(worker), log))
        throw util::Error("a torn read was not detected.");

    // 3. The server completes its update. Count how many of the weights read were old and new.
    push(worker, notice | Notice::go_on);
    pull(worker, step + 1U, log, stop);
    std::size_t stale = 0, fresh = 0;
    for (std::size_t f = 0; f < features; ++f) {
        stale += seen[f] == old[f] ? 1 : 0;
        fresh += seen[f] == worker.block.weights[f] ? 1 : 0;
    }
    log.event("torn",
              {{"rank", worker.place.rank}, {"weights", features}, {"old", stale}, {"new", fresh}});
}

}  // namespace lesson23
