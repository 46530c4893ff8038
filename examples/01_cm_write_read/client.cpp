// Lesson 01, the client: connects with rdma_cm, WRITEs into the server's memory, READs the same
// bytes back and compares them.
#include <iostream>

#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "rdma/capability.hpp"
#include "rdma/cm_handles.hpp"
#include "rdma/handles.hpp"
#include "util/address.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

// Sleeps until a work request has completed. A completion that arrives before the queue is armed
// signals nothing: so arm first, then poll.
ibv_wc next_completion(ibv_cq* cq) {
    ibv_wc wc{};
    while (true) {
        CHECK_RC(ibv_req_notify_cq(cq, 0));
        if (ibv_poll_cq(cq, 1, &wc) > 0)
            return wc;
        void* context = nullptr;
        CHECK_ERRNO(ibv_get_cq_event(cq->channel, &cq, &context));
        ibv_ack_cq_events(cq, 1);
    }
}

void transfer(ibv_qp* qp, std::uint64_t wr_id, ibv_wr_opcode opcode, const ibv_mr& local,
              const rdma::Capability& remote) {
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(local.addr),
                .length = static_cast<std::uint32_t>(local.length),
                .lkey = local.lkey};
    ibv_send_wr wr{.wr_id = wr_id,
                   .sg_list = &sge,
                   .num_sge = 1,
                   .opcode = opcode,
                   .send_flags = IBV_SEND_SIGNALED,
                   .wr = {.rdma = {.remote_addr = remote.va, .rkey = remote.rkey}}};
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(qp, &wr, &bad_wr));
    if (const ibv_wc wc = next_completion(qp->send_cq); wc.status != IBV_WC_SUCCESS)
        throw util::Error(std::string("the request failed: ") + ibv_wc_status_str(wc.status));
}

void run(const std::string& server, std::size_t length) {
    // 1. Find the local device, port and GID that lead to the server.
    util::Address address = util::Address::resolve(server, 18515, std::chrono::seconds(5));
    rdma_cm_id* created = nullptr;
    CHECK_ERRNO(rdma_create_id(nullptr, &created, nullptr, RDMA_PS_TCP));
    const rdma::CmId id{created};
    util::check_errno(rdma_resolve_addr(id.get(), nullptr, address.get(), 2000),
                      "rdma_resolve_addr(" + address.host() + ")");
    CHECK_ERRNO(rdma_resolve_route(id.get(), 2000));

    // 2. Memory, and the queues. The source of a WRITE needs no access rights; the destination of a
    // READ needs LOCAL_WRITE.
    std::vector<std::byte> out = common::pattern(length, "Hello from the client. "), in(length);
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(id->verbs))};
    const rdma::Mr out_mr{CHECK_PTR(ibv_reg_mr(pd.get(), out.data(), length, 0))};
    const rdma::Mr in_mr{
        CHECK_PTR(ibv_reg_mr(pd.get(), in.data(), length, IBV_ACCESS_LOCAL_WRITE))};
    const rdma::CompChannel channel{CHECK_PTR(ibv_create_comp_channel(id->verbs))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(id->verbs, 2, nullptr, channel.get(), 0))};
    ibv_qp_init_attr queues{.send_cq = cq.get(),
                            .recv_cq = cq.get(),
                            .cap = {.max_send_wr = 2, .max_send_sge = 1},
                            .qp_type = IBV_QPT_RC};
    CHECK_ERRNO(rdma_create_qp(id.get(), pd.get(), &queues));
    const rdma::CmQp qp{id.get()};

    // 3. Connect. The server's reply carries the capability: address, length and rkey.
    rdma_conn_param parameters{.initiator_depth = 1, .retry_count = 7};  // one READ at a time
    CHECK_ERRNO(rdma_connect(id.get(), &parameters));
    const auto remote = rdma::Capability::parse(id->event->param.conn);

    // 4. WRITE, then READ the same bytes back. The server's program takes no part in either.
    transfer(id->qp, 1, IBV_WR_RDMA_WRITE, *out_mr, remote);
    transfer(id->qp, 2, IBV_WR_RDMA_READ, *in_mr, remote);
    std::cout << "my READ has brought " << common::memory_text(in) << std::endl;

    // 5. Disconnect. The queue pair goes to ERR.
    CHECK_ERRNO(rdma_disconnect(id.get()));
    if (in != out)
        throw util::Error("the bytes read back differ from the bytes written.");
    std::cout << "the bytes read back equal the bytes written" << std::endl;
}

int main(int argc, char** argv) {
    common::CommandLine line("client", "Lesson 01, client: WRITEs into the server, READs it back.");
    std::string server;
    line.server(server);
    std::uint64_t length = 10'000;
    line.number("--length", length, 1, 1 << 20, "Bytes to write and read back");
    return line.main_without_log(argc, argv, [&] { run(server, length); });
}
