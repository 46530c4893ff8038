// Lesson 02, the server: a SEND contains no remote address; it consumes the next receive in the
// queue. If there is none, the device responds "receiver not ready". This program provokes that.
#include <array>
#include <iostream>
#include <poll.h>
#include <thread>

#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/sync_cm.hpp"
#include "rdma/handles.hpp"
#include "util/check.hpp"

constexpr std::size_t buffer_size = 4096;
constexpr std::uint64_t receives = 4;

// Posts the buffer with this number. It becomes the wr_id, which the completion carries.
void post_receive(ibv_qp* qp, const ibv_mr& mr, std::uint64_t number) {
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(mr.addr) + number * buffer_size,
                .length = buffer_size,
                .lkey = mr.lkey};
    ibv_recv_wr wr{.wr_id = number, .sg_list = &sge, .num_sge = 1};
    ibv_recv_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_recv(qp, &wr, &bad_wr));
}

// Moves the queue pair to the next state, with the attributes that rdma_cm has for it, but with our
// RNR timer: the wait that an RNR NAK requests from the sender, a 5-bit code (IBTA volume 1, table 45).
void move_to(ibv_qp_state state, rdma_cm_id* id, ibv_qp* qp, std::uint8_t rnr_timer) {
    ibv_qp_attr attr{.qp_state = state};
    int mask = 0;
    CHECK_ERRNO(rdma_init_qp_attr(id, &attr, &mask));
    attr.min_rnr_timer = rnr_timer;  // set in RTR; rdma_cm has 0 there, which is 655 ms
    CHECK_RC(ibv_modify_qp(qp, &attr, mask));
}

void serve(rdma_cm_id* id, std::chrono::milliseconds late, std::uint8_t rnr_timer) {
    // 1. The server sends no rkey: only its own receives refer to its memory.
    std::vector<std::byte> memory(receives * buffer_size);
    const rdma::Pd pd{CHECK_PTR(ibv_alloc_pd(id->verbs))};
    const rdma::Mr mr{
        CHECK_PTR(ibv_reg_mr(pd.get(), memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE))};
    const rdma::CompChannel channel{CHECK_PTR(ibv_create_comp_channel(id->verbs))};
    const rdma::Cq cq{CHECK_PTR(ibv_create_cq(id->verbs, receives, nullptr, channel.get(), 0))};
    ibv_qp_init_attr queues{.send_cq = cq.get(),
                            .recv_cq = cq.get(),
                            .cap = {.max_recv_wr = receives, .max_recv_sge = 1},
                            .qp_type = IBV_QPT_RC};
    const rdma::Qp qp{CHECK_PTR(ibv_create_qp(pd.get(), &queues))};

    // 2. The queue pair is ours, so rdma_accept does not move it: the timer is set before the client
    // learns that it may send.
    for (const auto state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS})
        move_to(state, id, qp.get(), rnr_timer);

    // 3. Accept, with the RNR retries that the client's device shall have.
    rdma_conn_param parameters{
        .rnr_retry_count = *static_cast<const std::uint8_t*>(id->event->param.conn.private_data),
        .qp_num = qp->qp_num};
    CHECK_ERRNO(rdma_accept(id, &parameters));

    // 4. Be late, like a program that has other work to do. From then on, receives are posted.
    std::cout << "busy for " << late.count() << " ms, with no receive posted" << std::endl;
    std::this_thread::sleep_for(late);
    CHECK_RC(ibv_req_notify_cq(cq.get(), 0));
    for (std::uint64_t number = 0; number < receives; ++number)
        post_receive(qp.get(), *mr, number);

    // 5. Sleep until a message has arrived or the client disconnects.
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
            std::cout << "a message: "
                      << common::memory_text(
                             std::span(memory).subspan(wc.wr_id * buffer_size, wc.byte_len))
                      << std::endl;
            post_receive(qp.get(), *mr, wc.wr_id);
        }
    }
}

int main(int argc, char** argv) {
    common::CommandLine line("server", "Lesson 02, server: posts its first receive late.");
    std::uint64_t late_ms = 200, rnr_timer = 14;
    line.number("--late", late_ms, 0, 60'000, "Milliseconds before the first receive is posted");
    line.number(
        "--rnr-timer", rnr_timer, 0, 31,
        "RNR timer code, the wait that an RNR NAK asks for:\n1 is 0.01 ms, 14 is 1.28 ms, 0 "
        "is 655.36 ms");
    return line.main_without_log(argc, argv, [&] {
        common::serve_each([&](rdma_cm_id* id) {
            serve(id, std::chrono::milliseconds(late_ms), static_cast<std::uint8_t>(rnr_timer));
        });
    });
}
