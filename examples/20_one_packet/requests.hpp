// Lesson 20, the client: the requests of one operation, and their completions.
#pragma once

#include <array>

#include <fmt/format.h>

#include "examples/common/rc_end.hpp"
#include "util/check.hpp"
#include "work.hpp"

namespace lesson20 {

/// Returns the request of message `number`, from 0.
inline ibv_send_wr request_of(const Plan& plan, std::uint64_t number, ibv_sge& sge,
                              const common::RcConnection& link) {
    constexpr std::array opcodes{IBV_WR_SEND,       IBV_WR_SEND,
                                 IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
                                 IBV_WR_RDMA_READ,  IBV_WR_ATOMIC_FETCH_AND_ADD};
    ibv_send_wr wr{.wr_id = number + 1,
                   .sg_list = &sge,
                   .num_sge = 1,
                   .opcode = opcodes.at(static_cast<std::size_t>(plan.operation)),
                   .send_flags = IBV_SEND_SIGNALED};
    if (plan.operation == Operation::WriteImm)
        wr.imm_data = htobe32(static_cast<std::uint32_t>(number + 1));
    if (plan.operation == Operation::FetchAdd) {
        wr.wr.atomic = {.remote_addr = link.remote().va,  // the same word for all
                        .compare_add = 1,
                        .rkey = link.remote().rkey};
    } else if (plan.operation != Operation::Send) {
        wr.wr.rdma = {.remote_addr = link.remote().va + number * plan.size,
                      .rkey = link.remote().rkey};
    }
    return wr;
}

/// Posts all messages before polling, then takes their completions. The first error breaks the
/// queue pair. Throws util::Error if a completion is late.
inline ibv_wc_status perform(const common::RcSide& side, const Plan& plan,
                             const common::RcConnection& link, const ibv_mr& mr,
                             rdma::CompletionQueue& completions) {
    for (std::uint64_t number = 0; number < plan.messages; ++number) {
        ibv_sge sge = sge_of(mr, plan, number);
        ibv_send_wr wr = request_of(plan, number, sge, link);
        ibv_send_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_send(link.qp(), &wr, &bad_wr));
    }
    for (std::uint64_t done = 0; done < plan.messages; ++done) {
        const auto wc = completions.next(side.stop, util::deadline_in(side.time));
        side.check_stop();
        if (!wc)
            throw util::Error(
                fmt::format("only {} of {} messages completed within {} s: lab/lab wire prints the "
                            "rules on the link",
                            done, plan.messages,
                            std::chrono::duration_cast<std::chrono::seconds>(side.time).count()));
        if (wc->status != IBV_WC_SUCCESS) {
            side.log.event("qp_state", rdma::query_state(link.qp()));
            return wc->status;
        }
    }
    return IBV_WC_SUCCESS;
}

}  // namespace lesson20
