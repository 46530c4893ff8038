// Lesson 19, part 2: the peer does not respond any more. It has destroyed its queue pair, and a
// device does not respond to packets for a queue pair that does not exist. To the sender this looks
// like a link that loses all packets.
#pragma once

#include "transfer.hpp"

namespace lesson19 {

/// Client: one WRITE until the device gives up, and another one after it.
inline void write_to_nobody(const common::RcSide& side, const Settings& settings) {
    // 1. Connect as before; then the server destroys its queue pair.
    std::vector<std::byte> bytes = common::pattern(64, "Anybody? ");
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(side.pd, bytes.data(), bytes.size(), 0))};
    Ask{Task::FallSilent, 0}.send(side.channel, side.limit());
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(side.context, 2, nullptr, nullptr, 0))};
    const common::RcConnection connection =
        connect(side, {.cq = cq.get(), .first_psn = 0xc15800, .max_send_wr = 2}, settings.timeout,
                settings.retry_cnt);
    side.barrier();
    side.barrier();  // the server has destroyed its queue pair
    const common::Counted counted(side.context, side.gid);

    // 2. A WRITE. With retry_cnt 7 Soft-RoCE retransmits without limit (rxe_comp.c), and this
    // program's time limit ends the wait.
    const auto write = [&](std::uint64_t wr_id) {
        post_write(connection, wr_id, *mr, 0, bytes.size());
        return common::next_completion(cq.get(), side.stop, util::deadline_in(side.time));
    };
    const auto started = util::Clock::now();
    const auto wc = write(1);
    const std::chrono::microseconds took =
        std::chrono::duration_cast<std::chrono::microseconds>(util::Clock::now() - started);
    side.log.event("qp_state", rdma::query_state(connection.qp()));

    // 3. Another WRITE: in ERR it is flushed without a packet.
    const auto next = wc ? write(2) : std::nullopt;
    side.log.event(
        "silence",
        {{"ack_timeout", settings.timeout},
         {"retry_cnt", settings.retry_cnt},
         {"sent", counted.since("sent_pkts")},
         {"took_us", took.count()},
         {"status", wc ? std::string(rdma::name_of(wc->status)) : "none until --timeout"},
         {"next", next ? std::string(rdma::name_of(next->status)) : "not posted"}});
}

}  // namespace lesson19
