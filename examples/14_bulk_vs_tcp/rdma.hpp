// The transfer by RDMA WRITE: the client's device puts the bytes into the server's memory, and the
// server's program has no part in it.
#pragma once

#include <algorithm>
#include <vector>

#include "examples/common/memory.hpp"
#include "meter.hpp"
#include "plan.hpp"
#include "recorder.hpp"
#include "verbs/completion.hpp"
#include "words.hpp"

namespace step14 {

// 4 s, so that nothing is sent again needlessly where an answer may take long: under emulation.
constexpr verbs::Repetition patient{.timeout = 20, .count = 7};

struct Depth {
    std::uint64_t requests = 16;  // posted and not yet known to be done
    std::uint64_t signal_every = 4;
};

/// Client: to the last completion, which says that all bytes are in the server's memory.
inline void write_all(const common::LinkSide& side, const Plan& plan, const Depth& depth,
                      std::vector<std::byte>& source, Meter& meter, util::CpuUsage& used) {
    const verbs::Mr mr = verbs::register_memory(side.pd, source, 0);
    side.log.event("mr", verbs::describe(*mr, 0));
    verbs::CompletionQueue completions(side.context, static_cast<int>(depth.requests));
    common::RcLink link(side, {.cq = completions.cq.get(),
                               .first_psn = 0xc14000,
                               .max_send_wr = static_cast<std::uint32_t>(depth.requests),
                               .repetition = patient});
    side.meet();
    Recorder recorder(link, side.log, plan.chunks());

    const auto before = util::CpuUsage::now();
    meter.start();
    std::uint64_t posted = 0;
    for (std::uint64_t done = 0; done < plan.chunks();) {
        side.check_stop();
        for (; posted < plan.chunks() && posted - done < depth.requests; ++posted) {
            ibv_sge piece{
                .addr = reinterpret_cast<std::uintptr_t>(source.data()) + plan.source_of(posted),
                .length = static_cast<std::uint32_t>(plan.chunk),
                .lkey = mr->lkey};
            ibv_send_wr wr{};
            wr.wr_id = posted + 1;
            wr.opcode = IBV_WR_RDMA_WRITE;
            wr.sg_list = &piece;
            wr.num_sge = 1;
            // A completion tells of all requests before it. The last one needs its own.
            if ((posted + 1) % depth.signal_every == 0 || posted + 1 == plan.chunks())
                wr.send_flags = IBV_SEND_SIGNALED;
            wr.wr.rdma.remote_addr = link.remote().va + plan.place_of(posted);
            wr.wr.rdma.rkey = link.remote().rkey;
            recorder.post(wr);
        }
        const auto wc = verbs::expect_success(
            completions.next(side.stop, util::deadline_in(side.time)), "RDMA_WRITE");
        recorder.completed(wc);
        meter.at((done = wc.wr_id) * plan.chunk);
    }
    used = util::CpuUsage::now() - before;
    recorder.write();
}

/// Server: lends memory, and waits until the client has done with it.
inline Result lend(const common::LinkSide& side, const Plan& plan) {
    constexpr int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    std::vector<std::byte> memory(plan.buffer);
    const verbs::Mr mr = verbs::register_memory(side.pd, memory, access);
    side.log.event("mr", verbs::describe(*mr, access));
    Ready{}.send(side.channel, side.patience());
    verbs::CompletionQueue unused(side.context, 1);
    const common::RcLink link(
        side, {.cq = unused.cq.get(), .first_psn = 0x5e1400, .repetition = patient}, mr.get());
    side.meet();
    const auto before = util::CpuUsage::now();
    side.meet_at_last();
    const auto used = util::CpuUsage::now() - before;
    side.log.event("memory", common::describe_memory(memory));
    return Result::of(common::crc_of(memory), used);
}

}  // namespace step14
