// A run directory like the lab's, of synthetic traffic: one RC connection whose client writes and
// reads, a few requests at a time, with the faults of a real link, both programs' logs, and a
// capture at the server. It is the same in every run.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace bench {

struct RunShape {
    std::uint64_t packets = 0;  ///< at least; the last request is completed
    /// How far the client's clock is ahead of the server's, in fact and according to run.json.
    std::chrono::nanoseconds client_ahead{};
    std::chrono::nanoseconds measured_ahead{};
    /// First request packets that do not reach the capture; their whole flight is retransmitted.
    unsigned lost_first = 0;
    bool hides_psns = false;   ///< in the logs
    std::uint64_t wr_ids = 0;  ///< used in turn; 0: each request has its own
    unsigned seed = 20260101;
};

/// Creates `directory` if it does not exist. Writes run.json last.
void make_synthetic_run(const std::string& directory, const RunShape& shape);

}  // namespace bench
