// The transfer by RDMA WRITE: the device writes the bytes into the server's memory without
// involving the server's program.
#pragma once

#include <algorithm>
#include <vector>

#include "examples/common/memory.hpp"
#include "examples/common/rc_connection.hpp"
#include "examples/common/tracer.hpp"
#include "meter.hpp"
#include "plan.hpp"
#include "protocol.hpp"
#include "rdma/completion.hpp"
#include "util/check.hpp"

namespace lesson22 {

// 4 s, to avoid needless retransmissions if responses are slow under emulation.
constexpr common::RetryPolicy long_timeout{.timeout = 20, .retry_cnt = 7};

// A follower of the run waits 300 ms for a packet's event.
constexpr std::chrono::milliseconds log_interval{150};

struct Depth {
    std::uint64_t requests = 16;  // outstanding requests
    std::uint64_t signal_every = 4;
};

/// Client: returns after the last completion. Then all bytes are in the server's memory.
inline void write_all(const common::RcSide& side, const Plan& plan, const Depth& depth,
                      std::vector<std::byte>& source, Meter& meter, util::CpuUsage& used) {
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(side.pd, source.data(), source.size(), 0))};
    rdma::CompletionQueue completions(side.context, static_cast<int>(depth.requests));
    common::RcConnection link(side, {.cq = completions.cq.get(),
                                     .first_psn = 0xc14000,
                                     .max_send_wr = static_cast<std::uint32_t>(depth.requests),
                                     .retry = long_timeout});
    side.barrier();
    common::HeldTrace trace;  // writing the log takes longer than a post
    auto next_write = util::Clock::now() + log_interval;

    const auto before = util::CpuUsage::now();
    meter.start();
    std::uint64_t posted = 0;
    for (std::uint64_t done = 0; done < plan.chunks();) {
        side.check_stop();
        for (; posted < plan.chunks() && posted - done < depth.requests; ++posted) {
            ibv_sge sge{
                .addr = reinterpret_cast<std::uintptr_t>(source.data()) + plan.source_of(posted),
                .length = static_cast<std::uint32_t>(plan.chunk),
                .lkey = mr->lkey};
            ibv_send_wr wr{.wr_id = posted + 1,
                           .sg_list = &sge,
                           .num_sge = 1,
                           .opcode = IBV_WR_RDMA_WRITE,
                           .wr = {.rdma = {.remote_addr = link.remote().va + plan.place_of(posted),
                                           .rkey = link.remote().rkey}}};
            // A completion covers all requests before it. The last request needs its own.
            if ((posted + 1) % depth.signal_every == 0 || posted + 1 == plan.chunks())
                wr.send_flags = IBV_SEND_SIGNALED;
            ibv_send_wr* bad_wr = nullptr;
            CHECK_RC(ibv_post_send(link.qp(), &wr, &bad_wr));
        }
        const auto wc = rdma::expect_success(
            completions.next(side.stop, util::deadline_in(side.time)), "RDMA_WRITE");
        if (const auto now = util::Clock::now(); now >= next_write) {
            trace.write();
            next_write = now + log_interval;
        }
        meter.at((done = wc.wr_id) * plan.chunk);
    }
    used = util::CpuUsage::now() - before;
}

/// Server: exposes memory and waits until the client is done.
inline Result expose(const common::RcSide& side, const Plan& plan) {
    std::vector<std::byte> memory(plan.buffer);
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(side.pd, memory.data(), memory.size(),
                                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE))};
    Ready{}.send(side.channel, side.limit());
    rdma::CompletionQueue unused(side.context, 1);
    const common::RcConnection link(
        side,
        {.cq = unused.cq.get(), .first_psn = 0x5e1400, .retry = long_timeout, .exposed = mr.get()});
    side.barrier();
    const auto before = util::CpuUsage::now();
    side.barrier_without_limit();
    const auto used = util::CpuUsage::now() - before;
    side.log.event("memory", common::describe_memory(memory));
    return Result::of(common::crc_of(memory), used);
}

}  // namespace lesson22
