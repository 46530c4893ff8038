// A run directory with the given run.json, events and frames, for tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "capture/pcapng_writer.hpp"
#include "runlog/event.hpp"
#include "support/temp_path.hpp"
#include "trace/timeline/finished_run.hpp"

namespace page_test {

class RunFiles {
  public:
    explicit RunFiles(std::string_view run_json) {
        std::filesystem::create_directories(temp_.path());
        std::ofstream(temp_.path() / "run.json") << run_json;
    }

    void log(const runlog::Event& event) const {
        std::ofstream(temp_.path() / (event.role + ".jsonl"), std::ios::app)
            << runlog::to_json(event) << '\n';
    }
    /// Frame n, from 1, was captured at n microseconds.
    void capture(const std::vector<std::vector<std::byte>>& frames) const {
        capture::PcapngWriter writer(capture::Sink::create((temp_.path() / "wire.pcapng").string()),
                                     {});
        writer.add_interface({});
        std::int64_t t_ns = 0;
        for (const auto& frame : frames)
            writer.packet(0, {.time = capture::Time(t_ns += 1000),
                              .bytes = frame,
                              .original_length = static_cast<std::uint32_t>(frame.size())});
        writer.flush();
    }
    timeline::FinishedRun run() const { return timeline::FinishedRun(temp_.str()); }
    std::string path() const { return temp_.str(); }

  private:
    support::TempPath temp_{"page_run"};
};

/// The server is 192.0.2.1, the client 192.0.2.2.
inline constexpr std::string_view two_hosts =
    R"({"hosts": {"server": {"address": "192.0.2.1"}, "client": {"address": "192.0.2.2"}}})";

}  // namespace page_test
