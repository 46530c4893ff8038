// Lesson 23, how a worker gets consistent weights from memory that the server may be updating: this
// is the point of the lesson.
#pragma once

#include <algorithm>

#include <fmt/format.h>

#include "worker.hpp"

namespace lesson23 {

/// Time limit of the server's updates.
inline constexpr std::chrono::seconds time_limit{30};

inline std::uint64_t read_version(Worker& worker) {
    read(worker, offsetof(Block, version), sizeof(Block::version));
    if (worker.block.version == given_up)
        throw util::Error("the server has stopped: another worker has disconnected.");
    return worker.block.version;
}

/// Reads the version until the server has the weights of this step, at growing intervals.
inline std::uint64_t await_version(Worker& worker, std::uint64_t step, util::StopSignal& stop) {
    const util::Deadline deadline = util::deadline_in(time_limit);
    std::chrono::milliseconds pause{1};
    while (true) {
        const std::uint64_t version = read_version(worker);
        if (version >= version_of_step(step) && is_resting(version))
            return version;
        if (util::is_past(deadline))
            throw util::Error(
                fmt::format("rank {} has waited {} s for version {} of the weights, but they have "
                            "version {}: is another worker missing?",
                            worker.place.rank, time_limit.count(), version_of_step(step), version));
        if (util::wait_readable(stop.fd(), stop, util::deadline_in(pause)) == util::Ready::stop)
            throw util::Error("stopped by a signal.");
        pause = std::min(2 * pause, std::chrono::milliseconds(50));
    }
}

/// Returns true if the weights read between these two versions are consistent; logs a "pull" event.
inline bool is_whole(const Worker& worker, std::uint64_t before, std::uint64_t after,
                     runlog::Log& log) {
    const bool is_good = belong_together(before, after);
    log.event("pull", {{"rank", worker.place.rank},
                       {"before", before},
                       {"after", after},
                       {"verdict", is_good ? "whole" : "torn, read again"}});
    return is_good;
}

/// Gets the weights of a step. Each READ completes before the next is posted: only this guarantees
/// their order. There is no order within a READ.
inline void pull(Worker& worker, std::uint64_t step, runlog::Log& log, util::StopSignal& stop) {
    while (true) {
        const std::uint64_t before = await_version(worker, step, stop);
        read(worker, offsetof(Block, weights), sizeof(Weights));
        const std::uint64_t after = read_version(worker);
        if (is_whole(worker, before, after, log))
            return;
    }
}

}  // namespace lesson23
