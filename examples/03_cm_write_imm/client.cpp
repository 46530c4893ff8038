// Lesson 03, the client: one WRITE that the server does not notice, then WRITEs with immediate data,
// each of which completes a receive at the server.
#include <arpa/inet.h>
#include <iostream>

#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/sync_cm.hpp"
#include "rdma/capability.hpp"
#include "rdma/handles.hpp"
#include "slots.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

// Writes message number `wr_id` into its slot and waits for the completion.
void write(ibv_qp* qp, ibv_wr_opcode opcode, std::uint32_t wr_id, const ibv_mr& local,
           const rdma::Capability& remote) {
    const std::uint32_t slot = wr_id % lesson03::slots;
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(local.addr),
                .length = static_cast<std::uint32_t>(local.length),
                .lkey = local.lkey};
    ibv_send_wr wr{.wr_id = wr_id,
                   .sg_list = &sge,
                   .num_sge = 1,
                   .opcode = opcode,
                   .send_flags = IBV_SEND_SIGNALED,
                   .imm_data = htonl(slot),  // sent by RDMA_WRITE_WITH_IMM only
                   .wr = {.rdma = {.remote_addr = remote.va + slot * lesson03::slot_size,
                                   .rkey = remote.rkey}}};
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(qp, &wr, &bad_wr));
    if (const ibv_wc wc = common::next_completion(qp->send_cq); wc.status != IBV_WC_SUCCESS)
        throw util::Error(std::string("the WRITE failed: ") + ibv_wc_status_str(wc.status));
}

void run(const std::string& server, std::size_t length, std::uint32_t count) {
    // 1. Memory, queues and connection as in lesson 01.
    const rdma::CmId id = common::resolve(server);
    std::vector<std::byte> bytes = common::pattern(length, "Wake up. ");
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(id->verbs))};
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(pd.get(), bytes.data(), bytes.size(), 0))};
    const rdma::CompChannel channel{CHECK_PTR(ibv_create_comp_channel(id->verbs))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(id->verbs, 2, nullptr, channel.get(), 0))};
    ibv_qp_init_attr queues{.send_cq = cq.get(),
                            .recv_cq = cq.get(),
                            .cap = {.max_send_wr = 2, .max_send_sge = 1},
                            .qp_type = IBV_QPT_RC};
    CHECK_ERRNO(rdma_create_qp(id.get(), pd.get(), &queues));
    const rdma::CmQp qp{id.get()};
    rdma_conn_param parameters{.retry_count = 7, .rnr_retry_count = 7};
    CHECK_ERRNO(rdma_connect(id.get(), &parameters));
    const auto remote = rdma::Capability::parse(id->event->param.conn);
    if (remote.length < lesson03::slots * lesson03::slot_size)
        throw util::Error("this is the server of another lesson: it exposes too little memory.");

    // 2. A plain WRITE: the server's memory changes, but its program is not notified.
    write(id->qp, IBV_WR_RDMA_WRITE, 0, *mr, remote);

    // 3. WRITE with immediate data: the data, and a notification that cannot arrive before it.
    for (std::uint32_t i = 1; i <= count; ++i)
        write(id->qp, IBV_WR_RDMA_WRITE_WITH_IMM, i, *mr, remote);
    CHECK_ERRNO(rdma_disconnect(id.get()));
    std::cout << "one WRITE without a completion at the server, and " << count << " with one"
              << std::endl;
}

int main(int argc, char** argv) {
    common::CommandLine line("client", "Lesson 03, client: WRITEs with immediate data.");
    std::string server;
    line.server(server);
    std::uint64_t length = 10'000, count = 3;
    line.number("--length", length, 1, lesson03::slot_size, "Bytes of each WRITE");
    line.number("--count", count, 1, 1000, "WRITEs with immediate data");
    return line.main_without_log(argc, argv,
                                 [&] { run(server, length, static_cast<std::uint32_t>(count)); });
}
