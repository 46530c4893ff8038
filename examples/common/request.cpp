#include "examples/common/request.hpp"

#include <span>

#include "examples/common/program.hpp"
#include "rdma/completion.hpp"
#include "rdma/names.hpp"
#include "util/check.hpp"

namespace common {

std::optional<ibv_wc> next_completion(ibv_cq* cq, util::StopSignal& stop, util::Deadline deadline) {
    ibv_wc wc{};
    do {
        const int completed = ibv_poll_cq(cq, 1, &wc);
        if (completed > 0)
            return wc;
        util::check_rc(completed, "ibv_poll_cq");
    } while (nap(stop, deadline));
    return std::nullopt;
}

ibv_wc perform(ibv_qp* qp, ibv_send_wr& wr, util::StopSignal& stop,
               std::chrono::milliseconds time) {
    wr.send_flags |= IBV_SEND_SIGNALED;
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(qp, &wr, &bad_wr));
    std::uint64_t length = 0;
    for (const ibv_sge& sge : std::span(wr.sg_list, static_cast<std::size_t>(wr.num_sge)))
        length += sge.length;
    const auto end = util::deadline_in(time + std::chrono::seconds(length >> 20U));
    return rdma::expect_success(next_completion(qp->send_cq, stop, end), rdma::name_of(wr.opcode));
}

void transfer(ibv_qp* qp, std::uint64_t wr_id, ibv_wr_opcode opcode, const ibv_mr& local,
              const RemoteMemory& remote, util::StopSignal& stop, std::chrono::milliseconds time) {
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(local.addr),
                .length = static_cast<std::uint32_t>(local.length),
                .lkey = local.lkey};
    ibv_send_wr wr{};
    wr.wr_id = wr_id;
    wr.opcode = opcode;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.wr.rdma.remote_addr = remote.va;
    wr.wr.rdma.rkey = remote.rkey;
    perform(qp, wr, stop, time);
}

}  // namespace common
