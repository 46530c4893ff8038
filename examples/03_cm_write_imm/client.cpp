// Lesson 03, the client: one WRITE that the server does not notice, then WRITEs with immediate data,
// each of which completes a receive at the server.
#include <arpa/inet.h>
#include <string>
#include <vector>

#include "examples/common/cm_client.hpp"
#include "examples/common/memory.hpp"
#include "examples/common/request.hpp"
#include "examples/common/tracer.hpp"
#include "rdma/names.hpp"
#include "slots.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace {

// Writes message number `wr_id` into its slot and waits for the completion.
void write(ibv_qp* qp, ibv_wr_opcode opcode, std::uint32_t wr_id, const ibv_mr& local,
           const rdma::Capability& remote, util::StopSignal& stop, std::chrono::milliseconds time) {
    const std::uint32_t slot = wr_id % lesson03::slots;
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(local.addr),
                .length = static_cast<std::uint32_t>(local.length),
                .lkey = local.lkey};
    ibv_send_wr wr{};
    wr.wr_id = wr_id;
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.wr.rdma.remote_addr = remote.va + std::uint64_t{slot} * lesson03::slot_size;
    wr.wr.rdma.rkey = remote.rkey;
    wr.imm_data = htonl(slot);  // sent by RDMA_WRITE_WITH_IMM only
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(qp, &wr, &bad_wr));
    rdma::expect_success(common::next_completion(qp->send_cq, stop, util::deadline_in(time)),
                         rdma::name_of(opcode));
}

int run(const common::ClientOptions& options, std::size_t length, std::uint64_t count,
        runlog::Log& log, util::StopSignal& stop) {
    // 1. Connect as in lesson 01.
    common::CmClient client(options, 2, log, stop);
    std::vector<std::byte> bytes = common::pattern(length, "Wake up. ");
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(client.pd(), bytes.data(), bytes.size(), 0))};
    client.make_qp({.max_send_wr = 2,
                    .max_recv_wr = 1,
                    .max_send_sge = 1,
                    .max_recv_sge = 1,
                    .max_inline_data = 0});
    const rdma::Capability remote = client.connect();
    if (remote.length < lesson03::slots * lesson03::slot_size)
        throw util::Error(
            "the server exposes less memory than the server of lesson 03. Is it the server of "
            "another lesson?");

    // 2. A plain WRITE: the server's memory changes, but its program is not notified.
    write(client.qp(), IBV_WR_RDMA_WRITE, 0, *mr, remote, stop, options.timeout);

    // 3. WRITE with immediate data: the data, and a notification that cannot arrive before it.
    for (std::uint32_t i = 1; i <= count; ++i)
        write(client.qp(), IBV_WR_RDMA_WRITE_WITH_IMM, i, *mr, remote, stop, options.timeout);

    client.disconnect();
    log.note("one WRITE without a completion at the server, and " + std::to_string(count) +
             " with one");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "client", "Lesson 03, client: WRITEs that notify the server by immediate data.");
    common::ClientOptions options;
    command_line.add(options);
    std::uint64_t length = 10'000;
    command_line.number("--length", length, 1, lesson03::slot_size, "Bytes of each WRITE");
    std::uint64_t count = 3;
    command_line.number("--count", count, 1, 1000, "WRITEs with immediate data");
    return command_line.main(argc, argv, common::traced([&](auto& log, auto& stop) {
                                 return run(options, length, count, log, stop);
                             }));
}
