// Part 2: the peer does not answer any more. Its queue pair is gone, and a device says nothing to a
// packet for none; to the sender this is the same as a cable that loses everything.
#pragma once

#include "transfer.hpp"

namespace step15 {

/// Client: one WRITE until the device gives up, and one behind it.
inline void meet_silence(const common::LinkSide& side, const Settings& settings) {
    std::vector<std::byte> bytes = common::pattern(64, "Anybody? ");
    const verbs::Mr mr = verbs::register_memory(side.pd, bytes, 0);
    verbs::CompletionQueue completions(side.context, 2);
    Ask{Task::FallSilent, 0}.send(side.channel, side.patience());
    common::RcLink link(side, {.cq = completions.cq.get(),
                               .first_psn = 0xc15800,
                               .max_send_wr = 2,
                               .repetition = settings.repetition()});
    side.meet();
    side.meet();  // now it has none
    const common::Counted counted(side.context, side.gid);
    const auto write = [&](std::uint64_t wr_id) {
        ibv_sge piece{.addr = reinterpret_cast<std::uintptr_t>(bytes.data()),
                      .length = static_cast<std::uint32_t>(bytes.size()),
                      .lkey = mr->lkey};
        ibv_send_wr wr{};
        wr.wr_id = wr_id;
        wr.opcode = IBV_WR_RDMA_WRITE;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.sg_list = &piece;
        wr.num_sge = 1;
        side.log.event("post_send", link.describe(wr));
        link.post_unlogged(wr);
        // In rxe 7 is without end (rxe_comp.c), and so would be this wait.
        const auto wc = completions.next(side.stop, util::deadline_in(side.time));
        if (wc)
            side.log.event("wc", verbs::describe(*wc));
        return wc;
    };
    const auto started = util::Clock::now();
    const auto wc = write(1);
    const auto took =
        std::chrono::duration_cast<std::chrono::microseconds>(util::Clock::now() - started);
    const auto state = verbs::query_state(link.qp());
    side.log.event("qp_state", state);
    const auto next = wc ? write(2) : std::nullopt;
    side.log.event(
        "silence",
        {{"ack_timeout", settings.ack_timeout},
         {"retry_cnt", settings.retry_cnt},
         {"sent", counted.since("sent_pkts")},
         {"took_us", took.count()},
         {"status", wc ? std::string(verbs::name_of(wc->status)) : "none until --timeout"},
         {"next", next ? std::string(verbs::name_of(next->status)) : "not posted"}});
}

/// Server.
inline void fall_silent(const common::LinkSide& side) {
    verbs::CompletionQueue unused(side.context, 1);
    {
        const common::RcLink link(side, {.cq = unused.cq.get(), .first_psn = 0x5e1580});
        side.meet();
    }
    side.log.note("the queue pair is gone; the client is not told by anyone");
    side.meet();
}

}  // namespace step15
