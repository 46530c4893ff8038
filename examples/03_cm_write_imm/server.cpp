// Lesson 03, the server: memory as in lesson 01, and receives as in lesson 02. A WRITE with immediate
// data consumes a receive, whose completion notifies this program.
#include <arpa/inet.h>
#include <array>
#include <iostream>
#include <poll.h>

#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/sync_cm.hpp"
#include "rdma/capability.hpp"
#include "rdma/handles.hpp"
#include "slots.hpp"
#include "util/check.hpp"

constexpr std::uint64_t receives = 4;

// Posts a receive without a buffer: the WRITE names the data's destination, and the completion
// carries only the 32 immediate bits.
void post_receive(ibv_qp* qp, std::uint64_t wr_id) {
    ibv_recv_wr wr{.wr_id = wr_id, .sg_list = nullptr, .num_sge = 0};
    ibv_recv_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_recv(qp, &wr, &bad_wr));
}

void serve(rdma_cm_id* id) {
    // 1. Memory, queues and receives. The client may send as soon as it is accepted.
    std::vector<std::byte> memory(lesson03::slots * lesson03::slot_size);
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(id->verbs))};
    const rdma::Mr mr{CHECK_PTR(ibv_reg_mr(pd.get(), memory.data(), memory.size(),
                                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE))};
    const rdma::CompChannel channel{CHECK_PTR(ibv_create_comp_channel(id->verbs))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(id->verbs, receives, nullptr, channel.get(), 0))};
    ibv_qp_init_attr queues{.send_cq = cq.get(),
                            .recv_cq = cq.get(),
                            .cap = {.max_recv_wr = receives, .max_recv_sge = 1},
                            .qp_type = IBV_QPT_RC};
    CHECK_ERRNO(rdma_create_qp(id, pd.get(), &queues));
    const rdma::CmQp qp{id};
    CHECK_RC(ibv_req_notify_cq(cq.get(), 0));
    for (std::uint64_t wr_id = 1; wr_id <= receives; ++wr_id)
        post_receive(id->qp, wr_id);

    // 2. Accept, with the capability.
    const auto capability = rdma::Capability{.va = reinterpret_cast<std::uintptr_t>(memory.data()),
                                             .length = memory.size(),
                                             .rkey = mr->rkey}
                                .serialize();
    rdma_conn_param parameters{.private_data = capability.data(),
                               .private_data_len = capability.size(),
                               .rnr_retry_count = 7};  // for the client's device: without limit
    CHECK_ERRNO(rdma_accept(id, &parameters));

    // 3. Each completion gives the number of a slot that was filled. It consumed a receive: post
    // another.
    std::array<pollfd, 2> fds{{{channel->fd, POLLIN, 0}, {id->channel->fd, POLLIN, 0}}};
    for (bool is_connected = true; is_connected;) {
        CHECK_ERRNO(poll(fds.data(), fds.size(), -1));
        is_connected = fds[1].revents == 0;
        if (fds[0].revents != 0) {
            ibv_cq* signalled = nullptr;
            void* context = nullptr;
            CHECK_ERRNO(ibv_get_cq_event(channel.get(), &signalled, &context));
            ibv_ack_cq_events(signalled, 1);
            CHECK_RC(ibv_req_notify_cq(signalled, 0));
        }
        for (ibv_wc wc{}; ibv_poll_cq(cq.get(), 1, &wc) > 0;) {
            if (wc.status != IBV_WC_SUCCESS)
                continue;  // the connection has failed: the other receives complete as flushed
            const std::uint32_t slot = ntohl(wc.imm_data);
            if (slot < lesson03::slots)
                std::cout << "slot " << slot << " has "
                          << common::memory_text(
                                 std::span(memory).subspan(slot * lesson03::slot_size, wc.byte_len))
                          << std::endl;
            post_receive(id->qp, wc.wr_id);
        }
    }
}

int main(int argc, char** argv) {
    common::CommandLine line("server", "Lesson 03, server: is notified of WRITEs.");
    return line.main_without_log(argc, argv, [] { common::serve_each(serve); });
}
