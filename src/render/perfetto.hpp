// A run as a trace in the Trace Event Format of Chromium, which the Perfetto UI (ui.perfetto.dev) and
// chrome://tracing open: hosts as processes, threads and queue pairs as tracks, work requests and calls as
// slices, packets as short slices of the link, and flows from a request to its packets.
// Source: "Trace Event Format", docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/sink.hpp"
#include "trace/timeline/finished_run.hpp"
#include "util/json.hpp"

namespace render {

/// Takes the rows of a run once, and writes the trace. Memory grows with the work requests that are
/// outstanding, not with the packets.
class Perfetto : public timeline::RowVisitor {
  public:
    /// Returns a packet in one line: the kind, two spaces, and the rest.
    using Summary = std::function<std::string(const wire::Packet& packet, util::Bytes frame)>;

    Perfetto(const timeline::FinishedRun& run, capture::Sink& sink, Summary summary);

    void event(const runlog::Event& event, std::int64_t t_ns,
               const timeline::WorkRequest* request) override;
    void packet(const timeline::PacketRow& row, const wire::Packet& packet,
                const capture::Frame& frame, std::uint64_t number,
                const timeline::WorkRequest* request) override;
    /// After the last row: requests without a completion, and the end of the file.
    void end();

  private:
    /// The format's pid and tid.
    struct Track {
        int process = 0;
        std::int64_t thread = 0;
    };
    // A work request that is not completed yet.
    struct Open {
        const timeline::WorkRequest* request = nullptr;
        Track track;
        std::int64_t t_ns = 0;
    };
    // Of a queue pair. Slices of one track must not overlap, so each request that is outstanding
    // beside another one takes another lane.
    struct Lanes {
        std::vector<bool> used;
        std::vector<std::int64_t> threads;
        std::vector<Open> open;
    };
    // The last packet of a direction: it ends before the next one begins.
    struct Held {
        util::Json slice, flow;
        std::int64_t t_ns = 0;
        bool is_flowing = false;
    };

    void write(const util::Json& event);
    double microseconds(std::int64_t t_ns);
    util::Json slice(std::string_view category, std::string name, Track track, std::int64_t t_ns,
                     std::int64_t duration_ns);
    util::Json flow(const char* phase, const timeline::WorkRequest& request, Track track,
                    std::int64_t t_ns);
    int process(const std::string& name);
    std::int64_t thread(int process, const std::string& name, int order);
    void posted(const timeline::WorkRequest& request, std::int64_t t_ns);
    void completed(const timeline::WorkRequest& request, std::int64_t t_ns);
    void close(const Open& open, std::int64_t t_ns, std::string_view status);
    void release(Held& held, std::int64_t next_ns);
    std::string name_of(const std::string& address) const;

    capture::Sink& sink_;
    Summary summary_;
    std::map<std::string, std::string> roles_;  // by address
    std::optional<std::int64_t> first_ns_;
    std::int64_t last_ns_ = 0;
    bool is_empty_ = true;
    std::map<std::string, int> processes_;
    std::map<std::pair<int, std::string>, std::int64_t> threads_;
    std::map<std::pair<std::string, std::uint32_t>, Lanes> queue_pairs_;
    std::map<std::pair<std::string, std::string>, Held> directions_;
};

}  // namespace render
