// One of step 16's workers: pulls the weights by READ, pushes its gradient by WRITE with immediate
// data. The server's processor has no part in a pull.
#pragma once

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "block.hpp"
#include "examples/common/cm_client.hpp"
#include "job.hpp"
#include "verbs/describe.hpp"
#include "verbs/names.hpp"

namespace step16 {

/// Every call that fails throws util::Error or std::system_error.
class Worker {
  public:
    Worker(const common::ClientOptions& options, const Job& job, runlog::Log& log,
           util::StopSignal& stop)
        : log_(log),
          stop_(stop),
          job_(job),
          client_(options, 1, log, stop),
          block_mr_(local(std::as_writable_bytes(std::span(&block_, 1)), IBV_ACCESS_LOCAL_WRITE)),
          gradient_mr_(local(std::as_writable_bytes(std::span(&gradient_, 1)), 0)) {
        client_.make_qp({.max_send_wr = 1,
                         .max_recv_wr = 1,
                         .max_send_sge = 1,
                         .max_recv_sge = 1,
                         .max_inline_data = 0});
        client_.connect(job.serialize());
        place_ = Place::parse(client_.answer());
        log.event("exchange", cm::describe(place_.weights, "received"));
        wr_id_ = 1000 * (place_.rank + std::uint64_t{1});
        log.event("worker", {{"rank", place_.rank},
                             {"workers", job.workers},
                             {"qpn", client_.qp()->qp_num},
                             {"first", place_.rank * samples / job.workers},
                             {"last", (place_.rank + 1) * samples / job.workers - 1}});
    }

    std::uint16_t rank() const { return place_.rank; }

    /// All steps; the weights at the end. `torn`: the pull of the second step is made to overlap
    /// with the update.
    Weights train(const Data& data, bool torn) {
        for (std::uint16_t step = 1; step <= job_.steps; ++step) {
            pull(step);
            gradient_ = data.gradient(block_.weights, place_.rank, job_.workers);
            if (torn && step == 1)
                overlap(step);
            else
                push(step, 0);
        }
        pull(job_.steps + 1u);
        client_.disconnect();
        return block_.weights;
    }

  private:
    // 1. The weights of a step. Each READ is over before the next is posted: that alone says which
    // of them came first. Within one READ nothing does.
    void pull(std::uint64_t step) {
        const util::Deadline deadline = util::deadline_in(patience);
        std::chrono::milliseconds pause{1};
        while (true) {
            const std::uint64_t before = await_version(version_of_step(step), pause, deadline);
            read(offsetof(Block, weights), sizeof(Weights));
            if (check(before, read_version()))
                return;
        }
    }

    std::uint64_t await_version(std::uint64_t wanted, std::chrono::milliseconds& pause,
                                util::Deadline deadline) {
        while (true) {
            const std::uint64_t found = read_version();
            if (found >= wanted && is_resting(found))
                return found;
            if (util::is_past(deadline))
                throw util::Error(fmt::format(
                    "rank {} has waited {} s for version {} of the weights, and they are at {}: is "
                    "another worker missing?",
                    place_.rank, patience.count(), wanted, found));
            std::this_thread::sleep_for(pause);
            pause = std::min(2 * pause, std::chrono::milliseconds(50));
        }
    }

    bool check(std::uint64_t before, std::uint64_t after) {
        const bool is_good = belong_together(before, after);
        log_.event("pull", {{"rank", place_.rank},
                            {"before", before},
                            {"after", after},
                            {"verdict", is_good ? "whole" : "torn, read again"}});
        return is_good;
    }

    // 2. The gradient into this worker's own slot, and the notice behind it: when the server hears
    // of it, all of the data is there.
    void push(std::uint16_t step, std::uint32_t flags) {
        ibv_sge piece = common::piece_of(*gradient_mr_);
        ibv_send_wr wr = write_with(Notice::of(place_.rank, step) | flags);
        wr.sg_list = &piece;
        wr.num_sge = 1;
        post(wr);
    }

    ibv_send_wr write_with(std::uint32_t notice) const {
        ibv_send_wr wr{};
        wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
        wr.imm_data = htonl(notice);
        wr.wr.rdma.remote_addr = place_.slot.va;
        wr.wr.rdma.rkey = place_.slot.rkey;
        return wr;
    }

    // 3. What happens to a reader that an update comes in between of. This pull looks at the
    // version before the update, and at the weights when half of them are written.
    void overlap(std::uint16_t step) {
        const Weights old = block_.weights;
        const std::uint64_t before = read_version();
        push(step, Notice::stop_halfway);
        const util::Deadline deadline = util::deadline_in(patience);
        while (is_resting(read_version()))
            if (util::is_past(deadline))
                throw util::Error("the server does not update its weights.");
        read(offsetof(Block, weights), sizeof(Weights));
        const Weights seen = block_.weights;
        if (check(before, read_version()))
            throw util::Error("a torn read was not found out.");
        ibv_send_wr wr = write_with(Notice::go_on | Notice::of(place_.rank, step));
        post(wr);
        pull(step + 1u);
        std::size_t stale = 0;
        std::size_t fresh = 0;
        for (std::size_t f = 0; f < features; ++f) {
            stale += seen[f] == old[f];
            fresh += seen[f] == block_.weights[f];
        }
        log_.event("torn",
                   {{"rank", place_.rank}, {"weights", features}, {"old", stale}, {"new", fresh}});
    }

    std::uint64_t read_version() {
        read(offsetof(Block, version), sizeof(Block::version));
        if (block_.version == given_up)
            throw util::Error("the server has given up: another worker has gone.");
        return block_.version;
    }

    void read(std::size_t at, std::size_t length) {
        ibv_sge piece = common::piece_of(*block_mr_, at, length);
        ibv_send_wr wr{};
        wr.opcode = IBV_WR_RDMA_READ;
        wr.sg_list = &piece;
        wr.num_sge = 1;
        wr.wr.rdma.remote_addr = place_.weights.va + at;
        wr.wr.rdma.rkey = place_.weights.rkey;
        post(wr);
    }

    void post(ibv_send_wr& wr) {
        if (stop_.requested())
            throw util::Error("stopped by a signal.");
        wr.wr_id = ++wr_id_;
        wr.send_flags = IBV_SEND_SIGNALED;
        client_.post_send(wr);
        client_.expect_success(verbs::name_of(wr.opcode));
    }

    verbs::Mr local(std::span<std::byte> memory, int access) {
        verbs::Mr mr = verbs::register_memory(client_.pd(), memory, access);
        log_.event("mr", verbs::describe(*mr, access));
        return mr;
    }

    static constexpr std::chrono::seconds patience{30};

    runlog::Log& log_;
    util::StopSignal& stop_;
    Job job_;
    Block block_;  // as it was at the last look
    Gradient gradient_;
    common::CmClient client_;
    verbs::Mr block_mr_, gradient_mr_;
    Place place_;
    std::uint64_t wr_id_ = 0;
};

}  // namespace step16
