// Packets and events as one self-contained HTML file: a ladder of both programs' events and the
// packets between them, plots, tables. A browser shows it without a network.
#pragma once

#include <cstdint>
#include <string>

#include "capture/sink.hpp"
#include "render/page/archive.hpp"
#include "trace/timeline/finished_run.hpp"
#include "trace/timeline/first_psn.hpp"

namespace page {

/// The parts of a page that differ between runs. The others are in render/page/assets.hpp.
struct Page {
    std::string title;
    std::string run, rows, details;  // archives (render/page/archive.hpp)
    std::uint64_t packets = 0;       // in the page
    std::uint64_t events = 0;
    std::uint64_t left_out = 0;  // packets and events beyond the limit
};

/// `most_packets`: limit for the page. Later packets are left out, and the page says so. `encode`
/// may use other threads.
/// Throws util::Error if the run's files cannot be read again.
Page read(timeline::FinishedRun& run, const timeline::FirstPsns& first_psns,
          std::uint64_t most_packets, const Encode& encode = page::encode);

/// Throws as the sink does.
void write(const Page& page, capture::Sink& sink);

}  // namespace page
