#include "examples/common/transfer.hpp"

#include "rdma/describe.hpp"
#include "rdma/names.hpp"
#include "util/check.hpp"

namespace common {

void perform(const Requester& requester, ibv_send_wr& wr) {
    wr.send_flags |= IBV_SEND_SIGNALED;
    const std::uint64_t length = rdma::length_of(wr);
    const auto psns = requester.psns.take(wr.opcode, length);
    if (requester.log != nullptr)
        requester.log->event("post_send", rdma::describe(*requester.qp, wr, psns));
    ibv_send_wr* refused = nullptr;
    util::check_rc(ibv_post_send(requester.qp, &wr, &refused), "ibv_post_send");
    const auto wc = requester.completions.next(
        requester.stop,
        util::deadline_in(requester.limit +
                          std::chrono::seconds(static_cast<std::int64_t>(length >> 20))));
    if (wc && requester.log != nullptr)
        requester.log->event("wc", rdma::describe(*wc));
    rdma::expect_success(wc, rdma::name_of(wr.opcode));
}

void transfer(ibv_qp* qp, ibv_wr_opcode opcode, std::uint64_t wr_id, const ibv_mr& local,
              const RemoteMemory& remote, rdma::PsnPredictor& psns,
              rdma::CompletionQueue& completions, std::chrono::milliseconds limit, runlog::Log& log,
              util::StopSignal& stop) {
    ibv_sge piece{.addr = reinterpret_cast<std::uintptr_t>(local.addr),
                  .length = static_cast<std::uint32_t>(local.length),
                  .lkey = local.lkey};
    ibv_send_wr wr{};
    wr.wr_id = wr_id;
    wr.opcode = opcode;
    wr.sg_list = &piece;
    wr.num_sge = 1;
    wr.wr.rdma.remote_addr = remote.va;
    wr.wr.rdma.rkey = remote.rkey;
    perform({qp, psns, completions, limit, &log, stop}, wr);
}

}  // namespace common
