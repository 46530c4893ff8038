// One transfer through whatever the way is: how fast, how much was sent that was needed once, how
// late the answers were.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "lesson/counted.hpp"
#include "lesson/memory.hpp"
#include "lesson/rc_link.hpp"
#include "verbs/completion.hpp"
#include "verbs/describe.hpp"
#include "verbs/names.hpp"
#include "window.hpp"
#include "words.hpp"

namespace step20 {

struct Settings {
    std::uint64_t size = 256 << 10;
    std::uint64_t chunk = 4 << 10;
    std::uint64_t path_mtu = 1024;
    std::uint64_t most = 64;  // chunks under way
    std::uint64_t traffic_class = 2;
    std::uint64_t ack_timeout = 16;

    std::uint64_t packets(unsigned mtu) const {
        const auto of = [mtu](std::uint64_t bytes) { return (bytes + mtu - 1) / mtu; };
        return size / chunk * of(chunk) + of(size % chunk);
    }
};

/// Client: posts chunks as the window lets it, to the last answer. The answers' times.
inline std::vector<Time> write_all(const lesson::LinkSide& side, lesson::RcLink& link,
                                   verbs::CompletionQueue& completions, const ibv_mr& mr,
                                   const Settings& settings, Window& window) {
    std::vector<Time> times;
    std::map<std::uint64_t, util::Clock::time_point> under_way;  // by wr_id
    for (std::uint64_t posted = 0; posted < settings.size || !under_way.empty();) {
        side.check_stop();
        while (posted < settings.size && window.has_room(under_way.size())) {
            const auto length = std::min(settings.chunk, settings.size - posted);
            ibv_sge piece{.addr = reinterpret_cast<std::uintptr_t>(mr.addr) + posted,
                          .length = static_cast<std::uint32_t>(length),
                          .lkey = mr.lkey};
            ibv_send_wr wr{};
            wr.wr_id = posted / settings.chunk + 1;
            wr.opcode = IBV_WR_RDMA_WRITE;
            wr.send_flags = IBV_SEND_SIGNALED;
            wr.sg_list = &piece;
            wr.num_sge = 1;
            wr.wr.rdma.remote_addr = link.remote().va + posted;
            wr.wr.rdma.rkey = link.remote().rkey;
            side.log.event("post_send", link.describe(wr));
            under_way.emplace(wr.wr_id, util::Clock::now());
            link.post_unlogged(wr);
            posted += length;
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
inline void transfer(const lesson::LinkSide& side, const Settings& settings,
                     const std::string& name, Window window) {
    std::vector<std::byte> bytes = lesson::unlike_bytes(settings.size);
    const verbs::Mr mr = verbs::register_memory(side.pd, bytes, 0);
    verbs::CompletionQueue completions(side.context, static_cast<int>(settings.most));
    Ask{settings.size}.send(side.channel, side.patience());
    lesson::RcLink link(side,
                        {.cq = completions.cq.get(),
                         .first_psn = 0xc20000,
                         .max_send_wr = static_cast<std::uint32_t>(settings.most),
                         .repetition = {.timeout = static_cast<std::uint8_t>(settings.ack_timeout)},
                         .path_mtu = static_cast<unsigned>(settings.path_mtu),
                         .traffic_class = static_cast<std::uint8_t>(settings.traffic_class)});
    side.meet();
    const lesson::Counted counted(side.context, side.gid);
    const auto started = util::Clock::now();
    std::vector<Time> times = write_all(side, link, completions, *mr, settings, window);
    const auto took =
        std::chrono::duration_cast<std::chrono::microseconds>(util::Clock::now() - started);
    const auto needed = settings.packets(link.path_mtu());
    const auto sent = counted.since("sent_pkts");
    side.meet();
    const Seen seen = Seen::receive(side.channel, side.patience());
    if (seen.crc != lesson::crc_of(bytes))
        throw util::Error("the server has other bytes than were sent.");
    std::ranges::sort(times);
    const double mbit_per_s = static_cast<double>(settings.size) * 8 /
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

/// Server.
inline void lend(const lesson::LinkSide& side, std::uint64_t size) {
    constexpr int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    std::vector<std::byte> memory(size);
    const verbs::Mr mr = verbs::register_memory(side.pd, memory, access);
    side.log.event("mr", verbs::describe(*mr, access));
    verbs::CompletionQueue unused(side.context, 1);
    const lesson::RcLink link(side, {.cq = unused.cq.get(), .first_psn = 0x5e2000}, mr.get());
    side.meet();
    const lesson::Counted counted(side.context, side.gid);
    side.meet_at_last();
    Seen{lesson::crc_of(memory), static_cast<std::uint32_t>(counted.since("out_of_seq_request"))}
        .send(side.channel, side.patience());
}

}  // namespace step20
