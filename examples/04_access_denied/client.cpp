// Step 04, the active side: four WRITEs that are refused, and what a refusal does to the queue
// pair.
#include <string>
#include <vector>

#include "examples/common/cm_client.hpp"
#include "examples/common/memory.hpp"
#include "refusal.hpp"
#include "verbs/describe.hpp"

namespace {

using step04::Refusal;

ibv_send_wr write_to(std::uint64_t wr_id, std::uint64_t va, std::uint32_t rkey, ibv_sge& piece) {
    ibv_send_wr wr{};
    wr.wr_id = wr_id;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.sg_list = &piece;
    wr.num_sge = 1;
    wr.wr.rdma.remote_addr = va;
    wr.wr.rdma.rkey = rkey;
    return wr;
}

// 1. Each refusal ends its queue pair, so each has a connection of its own.
void be_refused(const common::ClientOptions& options, Refusal refusal, runlog::Log& log,
                util::StopSignal& stop) {
    log.note("trying " + std::string(text(refusal)));
    common::CmClient client(options, 2, log, stop);
    std::vector<std::byte> bytes = common::pattern(64, "Not for you. ");
    const verbs::Mr mr = verbs::register_memory(client.pd(), bytes, 0);
    client.make_qp({.max_send_wr = 2,
                    .max_recv_wr = 1,
                    .max_send_sge = 1,
                    .max_recv_sge = 1,
                    .max_inline_data = 0});
    const auto request = static_cast<std::byte>(refusal);
    const cm::Capability remote = client.connect({&request, 1});

    // 2. The WRITE leaves this host all the same: only the responder's device knows its rights.
    ibv_sge piece = common::piece_of(*mr);
    const std::uint64_t va =
        refusal == Refusal::OutOfBounds ? remote.va + remote.length - bytes.size() + 1 : remote.va;
    const std::uint32_t rkey =
        refusal == Refusal::WrongKey ? remote.rkey ^ 0x00ffff00U : remote.rkey;
    ibv_send_wr refused = write_to(1, va, rkey, piece);
    client.post_send(refused);
    client.expect_status(IBV_WC_REM_ACCESS_ERR);

    // 3. The queue pair is broken now. A second request, with nothing wrong in it, does not leave.
    log.event("qp_state", verbs::query_state(client.qp()));
    ibv_send_wr flushed = write_to(2, remote.va, remote.rkey, piece);
    client.post_send(flushed);
    client.expect_status(IBV_WC_WR_FLUSH_ERR);
    client.disconnect();
}

int run(const common::ClientOptions& options, runlog::Log& log, util::StopSignal& stop) {
    for (const Refusal refusal : step04::refusals)
        be_refused(options, refusal, log, stop);
    log.note("refused four times, as it should be");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("client",
                                     "Step 04, client: WRITEs where it may not, in four ways.");
    common::ClientOptions options;
    command_line.add(options);
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}
