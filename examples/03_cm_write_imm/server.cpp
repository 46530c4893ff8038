// Lesson 03, the server: memory as in lesson 01, and posted receives. A WRITE with immediate data
// consumes a receive, and its completion notifies this program.
#include <arpa/inet.h>
#include <string>
#include <vector>

#include "examples/common/cm_server.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/tracer.hpp"
#include "slots.hpp"
#include "util/check.hpp"

namespace {

constexpr std::uint32_t receives = 4;

// Posts a receive without a buffer: the WRITE names the data's destination, and the completion
// carries only the 32 immediate bits.
void post_receive(ibv_qp* qp, std::uint64_t wr_id) {
    ibv_recv_wr wr{};
    wr.wr_id = wr_id;
    wr.sg_list = nullptr;
    wr.num_sge = 0;
    ibv_recv_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_recv(qp, &wr, &bad_wr));
}

void serve(common::CmSession& session, runlog::Log& log) {
    // 1. Post the receives before accepting: the client may send as soon as it is accepted.
    std::vector<std::byte> memory(lesson03::slots * lesson03::slot_size);
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(session.pd(), memory.data(), memory.size(),
                                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE))};
    session.make_qp({.max_send_wr = 1,
                     .max_recv_wr = receives,
                     .max_send_sge = 1,
                     .max_recv_sge = 1,
                     .max_inline_data = 0});
    for (std::uint64_t wr_id = 1; wr_id <= receives; ++wr_id)
        post_receive(session.qp(), wr_id);
    session.accept({.va = reinterpret_cast<std::uintptr_t>(memory.data()),
                    .length = memory.size(),
                    .rkey = mr->rkey});
    session.await_established();

    // 2. Each completion gives the number of a slot that was filled. It consumed a receive: post
    // another.
    bool is_connected = true;
    while (is_connected) {
        is_connected = session.stays_connected();  // before polling, to get the last completions
        ibv_wc wc{};
        while (ibv_poll_cq(session.cq(), 1, &wc) > 0) {
            if (wc.status != IBV_WC_SUCCESS)
                continue;  // disconnected: the remaining receives complete as flushed
            const std::uint32_t slot = ntohl(wc.imm_data);
            if (slot < lesson03::slots)
                log.event("memory", common::describe_memory(std::span(memory).subspan(
                                        slot * lesson03::slot_size, wc.byte_len)));
            else
                log.note("the client's immediate data has slot " + std::to_string(slot) +
                         ", which does not exist");
            post_receive(session.qp(), wc.wr_id);
        }
    }
}

int run(const common::ServerOptions& options, runlog::Log& log, util::StopSignal& stop) {
    common::CmServer server(options, log, stop);
    server.serve_each([&](common::CmSession& session) { serve(session, log); });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server", "Lesson 03, server: gets a completion for each WRITE with immediate data.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
