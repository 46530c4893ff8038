// Lesson 04, the client: four WRITEs that are refused, and what a refusal does to the queue pair.
#include <string>
#include <vector>

#include "examples/common/cm_client.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/tracer.hpp"
#include "rdma/names.hpp"
#include "refusal.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace {

using lesson04::Refusal;

// Posts a WRITE of the whole of `local`.
void post_write(ibv_qp* qp, std::uint64_t wr_id, const ibv_mr& local, std::uint64_t va,
                std::uint32_t rkey) {
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(local.addr),
                .length = static_cast<std::uint32_t>(local.length),
                .lkey = local.lkey};
    ibv_send_wr wr{.wr_id = wr_id,
                   .sg_list = &sge,
                   .num_sge = 1,
                   .opcode = IBV_WR_RDMA_WRITE,
                   .send_flags = IBV_SEND_SIGNALED,
                   .wr = {.rdma = {.remote_addr = va, .rkey = rkey}}};
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(qp, &wr, &bad_wr));
}

// Checks the status of the next completion. Read `status` first: after an error only wr_id, status,
// qp_num and vendor_err are valid.
void expect_status(ibv_cq* cq, ibv_wc_status wanted, util::StopSignal& stop,
                   std::chrono::milliseconds time) {
    const auto end = util::deadline_in(time);
    ibv_wc wc{};
    int completed = 0;
    while (completed == 0 && common::nap(stop, end))
        completed = ibv_poll_cq(cq, 1, &wc);
    if (stop.requested())
        throw util::Error("stopped by a signal.");
    if (completed != 1)
        throw util::Error("no completion arrived in time: the peer does not respond.");
    if (wc.status != wanted)
        throw util::Error("the completion has status " + std::string(rdma::name_of(wc.status)) +
                          ", not " + std::string(rdma::name_of(wanted)) + ".");
}

void be_refused(const common::ClientOptions& options, Refusal refusal, runlog::Log& log,
                util::StopSignal& stop) {
    // 1. A refusal breaks the queue pair, so each case needs its own connection.
    log.note("trying " + std::string(text(refusal)));
    common::CmClient client(options, 2, log, stop);
    std::vector<std::byte> bytes = common::pattern(64, "Not for you. ");
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(client.pd(), bytes.data(), bytes.size(), 0))};
    client.make_qp({.max_send_wr = 2, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1});
    const auto request = static_cast<std::byte>(refusal);
    const rdma::Capability remote = client.connect({&request, 1});

    // 2. The WRITE is sent anyway: only the responder's device knows the access rights.
    const std::uint64_t va =
        refusal == Refusal::OutOfBounds ? remote.va + remote.length - bytes.size() + 1 : remote.va;
    const std::uint32_t rkey =
        refusal == Refusal::WrongKey ? remote.rkey ^ 0x00ffff00U : remote.rkey;
    post_write(client.qp(), 1, *mr, va, rkey);
    expect_status(client.cq(), IBV_WC_REM_ACCESS_ERR, stop, options.timeout);

    // 3. The queue pair is in ERR and stays there.
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    CHECK_RC(ibv_query_qp(client.qp(), &attr, IBV_QP_STATE, &init));
    log.event("qp_state", {{"qpn", client.qp()->qp_num}, {"state", rdma::name_of(attr.qp_state)}});

    // 4. A second, valid request is never sent.
    post_write(client.qp(), 2, *mr, remote.va, remote.rkey);
    expect_status(client.cq(), IBV_WC_WR_FLUSH_ERR, stop, options.timeout);
    client.disconnect();
}

int run(const common::ClientOptions& options, runlog::Log& log, util::StopSignal& stop) {
    for (const Refusal refusal : lesson04::refusals)
        be_refused(options, refusal, log, stop);
    log.note("all four WRITEs were refused, as expected");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("client",
                                     "Lesson 04, client: four WRITEs that the server must refuse.");
    common::ClientOptions options;
    command_line.add(options);
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
