// One transfer through whatever the way is: how fast, how much was sent that was needed once, how
// late the answers were.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "examples/common/chunks.hpp"
#include "examples/common/counted.hpp"
#include "examples/common/memory.hpp"
#include "verbs/completion.hpp"
#include "verbs/describe.hpp"
#include "verbs/names.hpp"
#include "window.hpp"
#include "words.hpp"

namespace step20 {

struct Settings {
    common::Chunks bytes{.size = 256 << 10, .chunk = 4 << 10};
    std::uint64_t path_mtu = 1024;
    std::uint64_t most = 64;  // chunks under way
    std::uint64_t traffic_class = 2;
    std::uint64_t ack_timeout = 16;
};

/// Client: posts chunks as the window lets it, to the last answer. The answers' times.
inline std::vector<Time> write_all(const common::LinkSide& side, common::RcLink& link,
                                   verbs::CompletionQueue& completions, const ibv_mr& mr,
                                   const Settings& settings, Window& window) {
    std::vector<Time> times;
    std::map<std::uint64_t, util::Clock::time_point> under_way;  // by wr_id
    for (std::uint64_t posted = 0; posted < settings.bytes.size || !under_way.empty();) {
        side.check_stop();
        while (posted < settings.bytes.size && window.has_room(under_way.size())) {
            const auto now = util::Clock::now();
            posted = settings.bytes.post(side, link, mr, posted);
            under_way.emplace(posted, now);
        }
        const auto wc = completions.next(side.stop, util::deadline_in(side.time));
        if (wc)
            side.log.event("wc", verbs::describe(*wc));
        const std::uint64_t done = verbs::expect_success(wc, "RDMA_WRITE").wr_id;
        times.push_back(util::Clock::now() - under_way.extract(done).mapped());
        window.answered(times.back());
    }
    return times;
}

/// Client.
inline void transfer(const common::LinkSide& side, const Settings& settings,
                     const std::string& name, Window window) {
    std::vector<std::byte> bytes = common::unlike_bytes(settings.bytes.size);
    const verbs::Mr mr = verbs::register_memory(side.pd, bytes, 0);
    verbs::CompletionQueue completions(side.context, static_cast<int>(settings.most));
    Ask{settings.bytes.size}.send(side.channel, side.patience());
    common::RcLink link(side,
                        {.cq = completions.cq.get(),
                         .first_psn = 0xc20000,
                         .max_send_wr = static_cast<std::uint32_t>(settings.most),
                         .repetition = {.timeout = static_cast<std::uint8_t>(settings.ack_timeout)},
                         .path_mtu = static_cast<unsigned>(settings.path_mtu),
                         .traffic_class = static_cast<std::uint8_t>(settings.traffic_class)});
    side.meet();
    const common::Counted counted(side.context, side.gid);
    const auto started = util::Clock::now();
    std::vector<Time> times = write_all(side, link, completions, *mr, settings, window);
    const auto took =
        std::chrono::duration_cast<std::chrono::microseconds>(util::Clock::now() - started);
    const auto needed = settings.bytes.packets(link.path_mtu());
    const auto sent = counted.since("sent_pkts");
    side.meet();
    const auto seen = common::Seen::receive(side.channel, side.patience());
    if (seen.crc != common::crc_of(bytes))
        throw util::Error("the server has other bytes than were sent.");
    std::ranges::sort(times);
    const double mbit_per_s = static_cast<double>(settings.bytes.size) * 8 /
                              static_cast<double>(std::max<std::int64_t>(took.count(), 1));
    side.log.event(
        "bottleneck",
        {{"window", name},
         {"largest", fmt::format("{:.0f}", window.largest())},
         {"mbit_per_s", fmt::format("{:.1f}", mbit_per_s)},
         {"packets", needed},
         {"sent", sent},
         {"naks", counted.since("rcvd_seq_err")},
         {"p50_us",
          std::chrono::duration_cast<std::chrono::microseconds>(times[times.size() / 2]).count()},
         {"longest_us",
          std::chrono::duration_cast<std::chrono::microseconds>(times.back()).count()}});
}

}  // namespace step20
