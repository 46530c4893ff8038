// Lesson 14: two connected queue pairs of this program, as in lesson 05. One sends requests to
// memory of the other.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "examples/05_qp_states/transitions.hpp"
#include "examples/10_completions/events.hpp"
#include "rdma/handles.hpp"
#include "runlog/log.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace lesson14 {

/// What all parts share.
struct Host {
    ibv_context* context = nullptr;
    ibv_pd* pd = nullptr;
    lesson05::Link link;  // from the device to itself
    runlog::Log& log;
    util::StopSignal& stop;

    void check_stop() const {
        if (stop.requested())
            throw util::Error("stopped by a signal.");
    }
};

class Pair {
  public:
    explicit Pair(const Host& host)
        : stop_(host.stop),
          requester_cq_(make_cq(host)),
          owner_cq_(make_cq(host)),
          requester_(make_qp(host, requester_cq_.get())),
          owner_(make_qp(host, owner_cq_.get())) {
        connect(host.link, requester(), owner());
        connect(host.link, owner(), requester());
    }

    ibv_qp* requester() const { return requester_.get(); }
    /// The queue pair that owns memory and windows.
    ibv_qp* owner() const { return owner_.get(); }

    /// Returns the next completion, whatever its status. Throws util::Error.
    ibv_wc completion(const ibv_qp* qp) const {
        const auto wc = lesson10::next_by_polling(
            qp->send_cq, stop_, util::deadline_in(std::chrono::milliseconds(5000)));
        if (!wc)
            throw util::Error(stop_.requested() ? "stopped by a signal."
                                                : "no completion arrived within 5 s.");
        return *wc;
    }

    /// Performs a WRITE of `from` by the requester to an address of the owner.
    ibv_wc_status write(ibv_sge from, const std::byte* to, std::uint32_t rkey) const {
        ibv_send_wr wr{
            .sg_list = &from,
            .num_sge = 1,
            .opcode = IBV_WR_RDMA_WRITE,
            .send_flags = IBV_SEND_SIGNALED,
            .wr = {.rdma = {.remote_addr = reinterpret_cast<std::uintptr_t>(to), .rkey = rkey}}};
        ibv_send_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_send(requester(), &wr, &bad_wr));
        return completion(requester()).status;
    }

  private:
    static rdma::Cq make_cq(const Host& host) {
        return rdma::Cq{CHECK_PTR(ibv_create_cq(host.context, 8, nullptr, nullptr, 0))};
    }

    static rdma::Qp make_qp(const Host& host, ibv_cq* cq) {
        ibv_qp_init_attr init{
            .send_cq = cq,
            .recv_cq = cq,
            .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
            .qp_type = IBV_QPT_RC};
        return rdma::Qp{CHECK_PTR(ibv_create_qp(host.pd, &init))};
    }

    static void connect(const lesson05::Link& link, ibv_qp* qp, const ibv_qp* peer) {
        for (auto [attributes, mask] :
             {lesson05::to_init(link), lesson05::to_rtr(link, peer->qp_num),
              lesson05::to_rts(link)})
            CHECK_RC(ibv_modify_qp(qp, &attributes, mask));
    }

    util::StopSignal& stop_;
    rdma::Cq requester_cq_, owner_cq_;
    rdma::Qp requester_, owner_;
};

inline ibv_sge sge_of(std::span<const std::byte> memory, const ibv_mr& mr) {
    return {.addr = reinterpret_cast<std::uintptr_t>(memory.data()),
            .length = static_cast<std::uint32_t>(memory.size()),
            .lkey = mr.lkey};
}

}  // namespace lesson14
