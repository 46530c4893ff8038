// A run directory as the lab leaves one, of synthetic traffic: one RC connection whose client writes and
// reads, a few requests at a time, with what goes wrong on a real wire, both programs' logs, and a
// capture at the server. The same in every run.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace bench {

struct RunShape {
    std::uint64_t packets = 0;  ///< that pass at least; the last request is done
    /// How far the client's clock is ahead of the server's, and how far run.json says it is.
    std::chrono::nanoseconds client_ahead{};
    std::chrono::nanoseconds measured_ahead{};
    /// The first request packets do not reach the capture; all of their flight is retransmitted.
    unsigned lost_first = 0;
    bool hides_psns = false;   ///< the logs do
    std::uint64_t wr_ids = 0;  ///< used in turn; 0: each request has its own
    unsigned seed = 20260101;
};

/// `directory` is made where there is none. run.json is written last.
void make_synthetic_run(const std::string& directory, const RunShape& shape);

}  // namespace bench
