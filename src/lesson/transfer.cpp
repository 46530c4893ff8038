#include "lesson/transfer.hpp"

#include "util/check.hpp"
#include "verbs/describe.hpp"
#include "verbs/names.hpp"

namespace lesson {

void transfer(ibv_qp* qp, ibv_wr_opcode opcode, std::uint64_t wr_id, const ibv_mr& local,
              const RemoteMemory& remote, verbs::PsnPredictor& psns,
              verbs::CompletionQueue& completions, std::chrono::milliseconds patience,
              runlog::Log& log, util::StopSignal& stop) {
    ibv_sge piece{.addr = reinterpret_cast<std::uintptr_t>(local.addr),
                  .length = static_cast<std::uint32_t>(local.length),
                  .lkey = local.lkey};
    ibv_send_wr wr{};
    wr.wr_id = wr_id;
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.sg_list = &piece;
    wr.num_sge = 1;
    wr.wr.rdma.remote_addr = remote.va;
    wr.wr.rdma.rkey = remote.rkey;
    log.event("post_send", verbs::describe(*qp, wr, psns.take(opcode, piece.length)));
    ibv_send_wr* refused = nullptr;
    util::check_rc(ibv_post_send(qp, &wr, &refused), "ibv_post_send");
    const auto wc = completions.next(
        stop, util::deadline_in(patience + std::chrono::seconds(piece.length >> 20)));
    if (wc)
        log.event("wc", verbs::describe(*wc));
    verbs::expect_success(wc, verbs::name_of(opcode));
}

}  // namespace lesson
