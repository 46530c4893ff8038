// Step 02, the passive side: memory as in step 01, and a row of receive requests. A WRITE with
// immediate data takes one of them, and that is how this program hears of it.
#include <arpa/inet.h>
#include <string>
#include <vector>

#include "examples/common/cm_server.hpp"
#include "examples/common/memory.hpp"
#include "slots.hpp"
#include "verbs/describe.hpp"

namespace {

constexpr std::uint32_t receives = 4;

// 1. Receive requests without a buffer: the data goes where the WRITE says, and the completion
// brings only the 32 bits.
void post_receive(common::CmSession& session, std::uint64_t wr_id) {
    ibv_recv_wr wr{};
    wr.wr_id = wr_id;
    session.post_recv(wr);
}

void serve(common::CmSession& session, runlog::Log& log) {
    constexpr int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    std::vector<std::byte> memory(step02::slots * step02::slot_size);
    const verbs::Mr mr = verbs::register_memory(session.pd(), memory, access);
    log.event("mr", verbs::describe(*mr, access));
    session.make_qp({.max_send_wr = 1,
                     .max_recv_wr = receives,
                     .max_send_sge = 1,
                     .max_recv_sge = 1,
                     .max_inline_data = 0});
    for (std::uint64_t wr_id = 1; wr_id <= receives; ++wr_id)
        post_receive(session, wr_id);
    session.accept({.va = reinterpret_cast<std::uintptr_t>(memory.data()),
                    .length = memory.size(),
                    .rkey = mr->rkey});
    session.await_established();

    // 2. Each completion names a slot that is full now. The receive request is spent: post it anew.
    while (const auto wc = session.next_completion()) {
        if (wc->status != IBV_WC_SUCCESS)
            continue;  // the client has gone: the requests left over come back flushed
        const std::uint32_t slot = ntohl(wc->imm_data);
        if (slot < step02::slots)
            log.event("memory", common::describe_memory(std::span(memory).subspan(
                                    slot * step02::slot_size, wc->byte_len)));
        else
            log.note("the client names slot " + std::to_string(slot) + ", which there is not");
        post_receive(session, wc->wr_id);
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
        "server", "Step 02, server: is told of each WRITE that carries immediate data.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}
