// Part 1: WRITEs over whatever the way does to them. How often packets were sent that were needed
// once, and whether the bytes are what they were.
#pragma once

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "examples/common/chunks.hpp"
#include "examples/common/counted.hpp"
#include "examples/common/memory.hpp"
#include "verbs/completion.hpp"
#include "verbs/describe.hpp"
#include "verbs/names.hpp"
#include "words.hpp"

namespace step15 {

struct Settings {
    common::Chunks bytes{.size = 1 << 20, .chunk = 64 << 10};
    std::uint64_t depth = 4;
    std::uint64_t path_mtu = 4096;
    std::uint64_t ack_timeout = 16;
    std::uint64_t retry_cnt = 6;

    verbs::Repetition repetition() const {
        return {.timeout = static_cast<std::uint8_t>(ack_timeout),
                .count = static_cast<std::uint8_t>(retry_cnt)};
    }
};

/// A request that will not be answered any more: what ended it, and what became of the queue pair.
[[noreturn]] inline void give_up(const common::LinkSide& side, const common::RcLink& link,
                                 const ibv_wc& wc, const Settings& settings) {
    side.log.event("qp_state", verbs::query_state(link.qp()));
    throw util::Error(
        fmt::format("RDMA_WRITE failed: {} ({}), with --retry-cnt {} and --ack-timeout {} ({:.0f} "
                    "ms at least). "
                    "The queue pair is in ERR; a connection begins anew. What is set on the way: "
                    "lab/lab wire, lab/lab netem.",
                    verbs::name_of(wc.status), ibv_wc_status_str(wc.status), settings.retry_cnt,
                    settings.ack_timeout,
                    0.004096 * static_cast<double>(std::uint64_t{1} << settings.ack_timeout)));
}

/// Client: all WRITEs, in order, to the last completion.
inline void write_all(const common::LinkSide& side, common::RcLink& link,
                      verbs::CompletionQueue& completions, const ibv_mr& mr,
                      const Settings& settings) {
    std::uint64_t posted = 0;
    std::uint64_t done = 0;
    std::uint64_t under_way = 0;
    while (done < settings.bytes.size) {
        side.check_stop();
        for (; posted < settings.bytes.size && under_way < settings.depth; ++under_way)
            posted = settings.bytes.post(side, link, mr, posted);
        const auto wc = completions.next(side.stop, util::deadline_in(side.time));
        if (wc)
            side.log.event("wc", verbs::describe(*wc));
        if (wc && wc->status != IBV_WC_SUCCESS)
            give_up(side, link, *wc, settings);
        done = verbs::expect_success(wc, "RDMA_WRITE").wr_id;
        --under_way;
    }
}

inline void transfer(const common::LinkSide& side, const Settings& settings) {
    std::vector<std::byte> bytes = common::unlike_bytes(settings.bytes.size);
    const verbs::Mr mr = verbs::register_memory(side.pd, bytes, 0);
    side.log.event("mr", verbs::describe(*mr, 0));
    verbs::CompletionQueue completions(side.context, static_cast<int>(settings.depth));
    Ask{Task::Lend, settings.bytes.size}.send(side.channel, side.patience());
    common::RcLink link(side, {.cq = completions.cq.get(),
                               .first_psn = 0xc15000,
                               .max_send_wr = static_cast<std::uint32_t>(settings.depth),
                               .repetition = settings.repetition(),
                               .path_mtu = static_cast<unsigned>(settings.path_mtu)});
    side.meet();
    const common::Counted counted(side.context, side.gid);
    const auto started = util::Clock::now();
    write_all(side, link, completions, *mr, settings);
    const auto took =
        std::chrono::duration_cast<std::chrono::microseconds>(util::Clock::now() - started);
    const auto needed = settings.bytes.packets(link.path_mtu());
    const auto sent = counted.since("sent_pkts");
    side.meet();

    const auto seen = common::Seen::receive(side.channel, side.patience());
    const double mib_per_s = static_cast<double>(settings.bytes.size) / (1 << 20) /
                             (static_cast<double>(std::max<std::int64_t>(took.count(), 1)) / 1e6);
    const bool is_intact = seen.crc == common::crc_of(bytes);
    side.log.event("transfer", {{"len", settings.bytes.size},
                                {"packets", needed},
                                {"sent", sent},
                                {"again", sent > needed ? sent - needed : 0},
                                {"naks", counted.since("rcvd_seq_err")},
                                {"retries", counted.since("completer_retry_err")},
                                {"out_of_sequence", seen.out_of_sequence},
                                {"duplicates", seen.duplicates},
                                {"elapsed_us", took.count()},
                                {"mib_per_s", fmt::format("{:.2f}", mib_per_s)},
                                {"crc32", seen.crc},
                                {"bytes", is_intact ? "intact" : "DAMAGED"}});
    if (!is_intact)
        throw util::Error("the server has other bytes than were sent.");
}

}  // namespace step15
