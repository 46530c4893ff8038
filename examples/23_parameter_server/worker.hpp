// Lesson 23, a worker: its connection and its two requests. It READs the weights, unnoticed by the
// server's program, and WRITEs its gradient with immediate data, which notifies the server.
#pragma once

#include <arpa/inet.h>

#include "block.hpp"
#include "examples/common/cm_client.hpp"
#include "job.hpp"
#include "util/check.hpp"

namespace lesson23 {

/// Every call throws util::Error or std::system_error on failure.
struct Worker {
    Job job;
    Block block;  // the block as last read
    Gradient gradient;
    common::CmClient client;
    rdma::Mr block_mr, gradient_mr;
    Assignment place;
    std::uint64_t wr_id = 0;

    Worker(const common::ClientOptions& options, const Job& wanted, runlog::Log& log,
           util::StopSignal& stop)
        : job(wanted),
          client(options, 1, log, stop),
          block_mr(
              CHECK_PTR(ibv_reg_mr(client.pd(), &block, sizeof block, IBV_ACCESS_LOCAL_WRITE))),
          gradient_mr(CHECK_PTR(ibv_reg_mr(client.pd(), &gradient, sizeof gradient, 0))) {
        client.make_qp({.max_send_wr = 1,
                        .max_recv_wr = 1,
                        .max_send_sge = 1,
                        .max_recv_sge = 1,
                        .max_inline_data = 0});
        client.connect(job.serialize());
        place = Assignment::parse(client.answer());
        log.event("exchange", rdma::describe(place.weights, "received"));
        wr_id = 1000 * (place.rank + std::uint64_t{1});  // wr_ids in the log show the rank
        log.event("worker", {{"rank", place.rank},
                             {"workers", job.workers},
                             {"qpn", client.qp()->qp_num},
                             {"first", place.rank * samples / job.workers},
                             {"last", (place.rank + 1) * samples / job.workers - 1}});
    }
    Worker(const Worker&) = delete;  // the device has the address of its memory
    Worker& operator=(const Worker&) = delete;
    Worker(Worker&&) = delete;
    Worker& operator=(Worker&&) = delete;
    ~Worker() = default;
};

/// READs a part of the server's block into the same part of this worker's.
inline void read(Worker& worker, std::size_t offset, std::size_t length) {
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(&worker.block) + offset,
                .length = static_cast<std::uint32_t>(length),
                .lkey = worker.block_mr->lkey};
    ibv_send_wr wr{.wr_id = ++worker.wr_id,
                   .sg_list = &sge,
                   .num_sge = 1,
                   .opcode = IBV_WR_RDMA_READ,
                   .send_flags = IBV_SEND_SIGNALED,
                   .wr = {.rdma = {.remote_addr = worker.place.weights.va + offset,
                                   .rkey = worker.place.weights.rkey}}};
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(worker.client.qp(), &wr, &bad_wr));
    worker.client.expect_success("RDMA_READ");
}

/// WRITEs the gradient into this worker's slot, or nothing with Notice::go_on. When the server
/// polls the completion, the whole gradient is in the slot.
inline void push(Worker& worker, std::uint32_t notice) {
    ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(&worker.gradient),
                .length = sizeof worker.gradient,
                .lkey = worker.gradient_mr->lkey};
    ibv_send_wr wr{
        .wr_id = ++worker.wr_id,
        .sg_list = &sge,
        .num_sge = (notice & Notice::go_on) != 0 ? 0 : 1,
        .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
        .send_flags = IBV_SEND_SIGNALED,
        .imm_data = htonl(notice),
        .wr = {.rdma = {.remote_addr = worker.place.slot.va, .rkey = worker.place.slot.rkey}}};
    ibv_send_wr* bad_wr = nullptr;
    CHECK_RC(ibv_post_send(worker.client.qp(), &wr, &bad_wr));
    worker.client.expect_success("RDMA_WRITE_WITH_IMM");
}

}  // namespace lesson23
