// Lesson 02, the client: SENDs. It knows no address or rkey of the server's memory, and it does not
// know whether the server is ready.
#include <iostream>

#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/sync_cm.hpp"
#include "rdma/handles.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

void send(ibv_qp* qp, std::uint64_t wr_id, const ibv_mr& local) {
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(local.addr),
                .length = static_cast<std::uint32_t>(local.length),
                .lkey = local.lkey};
    ibv_send_wr wr{.wr_id = wr_id,
                   .sg_list = &sge,
                   .num_sge = 1,
                   .opcode = IBV_WR_SEND,
                   .send_flags = IBV_SEND_SIGNALED};
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(qp, &wr, &bad_wr));
    const ibv_wc wc = common::next_completion(qp->send_cq);
    if (wc.status == IBV_WC_RNR_RETRY_EXC_ERR)
        throw util::Error(
            "the server had no receive posted, and all RNR retries of the device were used. Try a "
            "larger --rnr-retries; 7 means \"without limit\".");
    if (wc.status != IBV_WC_SUCCESS)
        throw util::Error(std::string("the SEND failed: ") + ibv_wc_status_str(wc.status));
}

void run(const std::string& server, std::size_t length, std::uint8_t rnr_retries) {
    // 1. Memory and queues as in lesson 01.
    const rdma::CmId id = common::resolve(server);
    std::vector<std::byte> bytes = common::pattern(length, "Are you ready? ");
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

    // 2. Connect. Each side of rdma_cm sets the RNR retries of the *other* side's device: the
    // request carries our number, and the server accepts with it.
    rdma_conn_param parameters{
        .private_data = &rnr_retries, .private_data_len = 1, .retry_count = 7};
    CHECK_ERRNO(rdma_connect(id.get(), &parameters));

    // 3. The first SEND is too early: the server has posted no receive. The device retries until it
    // has; this program only sees that the completion takes long.
    send(id->qp, 1, *mr);
    send(id->qp, 2, *mr);
    CHECK_ERRNO(rdma_disconnect(id.get()));
    std::cout << "two messages have arrived" << std::endl;
}

int main(int argc, char** argv) {
    common::CommandLine line("client", "Lesson 02, client: SENDs to a server that is not ready.");
    std::string server;
    line.server(server);
    std::uint64_t length = 64, rnr_retries = 7;
    line.number("--length", length, 1, 1 << 20, "Bytes of each message");
    line.number("--rnr-retries", rnr_retries, 0, 7,
                "Retries of the device after an RNR NAK;\n7: without limit");
    return line.main_without_log(
        argc, argv, [&] { run(server, length, static_cast<std::uint8_t>(rnr_retries)); });
}
