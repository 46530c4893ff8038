// Lesson 05: one of the two queue pairs with its memory, and the operations to try on it.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "examples/common/memory.hpp"
#include "examples/common/request.hpp"
#include "rdma/describe.hpp"
#include "runlog/log.hpp"
#include "transitions.hpp"
#include "util/error.hpp"
#include "util/stop_signal.hpp"

namespace lesson05 {

constexpr std::chrono::milliseconds time_limit{5000};

class End {
  public:
    End(std::string name, ibv_context* context, ibv_pd* pd, std::string_view text, runlog::Log& log,
        util::StopSignal& stop)
        : name_(std::move(name)),
          log_(log),
          stop_(stop),
          memory_(common::pattern(64, text)),
          mr_(CHECK_PTR(ibv_reg_mr(pd, memory_.data(), memory_.size(), IBV_ACCESS_LOCAL_WRITE))),
          cq_(CHECK_PTR(ibv_create_cq(context, 8, nullptr, nullptr, 0))) {
        ibv_qp_init_attr attributes{
            .send_cq = cq_.get(),
            .recv_cq = cq_.get(),
            .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
            .qp_type = IBV_QPT_RC};
        qp_.reset(CHECK_PTR(ibv_create_qp(pd, &attributes)));
    }

    std::uint32_t qpn() const { return qp_->qp_num; }
    const std::vector<std::byte>& memory() const { return memory_; }

    /// A transition that must succeed, or (refused) one that the device must refuse.
    void done(const Transition& transition) {
        if (const int error = attempt(transition, ""); error != 0)
            util::throw_system_error(error, "ibv_modify_qp");
    }
    void refused(const Transition& transition, std::string_view why) {
        if (attempt(transition, why) == 0)
            throw util::Error(
                fmt::format("the device allowed a call that it must refuse: {}.", why));
    }

    void post_recv(std::uint64_t wr_id, std::string_view what) {
        ibv_sge sge = entry();
        ibv_recv_wr wr{.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};
        ibv_recv_wr* bad_wr = nullptr;
        util::check_rc(ibv_post_recv(qp_.get(), &wr, &bad_wr), what);
        log_.note(fmt::format("{}: accepted", what));
    }
    void post_send(std::uint64_t wr_id, std::string_view what) {
        ibv_sge sge = entry();
        ibv_send_wr wr{.wr_id = wr_id,
                       .sg_list = &sge,
                       .num_sge = 1,
                       .opcode = IBV_WR_SEND,
                       .send_flags = IBV_SEND_SIGNALED};
        ibv_send_wr* bad_wr = nullptr;
        util::check_rc(ibv_post_send(qp_.get(), &wr, &bad_wr), what);
        log_.note(fmt::format("{}: accepted", what));
    }

    std::optional<ibv_wc> completion_within(std::chrono::milliseconds time) {
        return common::next_completion(cq_.get(), stop_, util::deadline_in(time));
    }
    void expect(ibv_wc_status wanted) { judge(completion_within(time_limit), wanted); }
    void judge(const std::optional<ibv_wc>& wc, ibv_wc_status wanted) {
        if (!wc)
            throw util::Error(fmt::format("no completion arrived at {} within 5 s.", name_));
        log_.event("wc", rdma::describe(*wc));
        if (wc->status != wanted)
            throw util::Error(fmt::format("the completion at {} has status {}, not {}.", name_,
                                          rdma::name_of(wc->status), rdma::name_of(wanted)));
    }

    void dump() const { log_.event("qp_attr", describe(qp_.get())); }

    /// Until the messages in progress have completed, SQD allows no transition except to ERR. The
    /// event IBV_EVENT_SQ_DRAINED reports the end of that, and so does the attribute sq_draining.
    void await_drained() const {
        const util::Deadline deadline = util::deadline_in(time_limit);
        while (query(qp_.get()).sq_draining != 0)
            if (stop_.requested() || util::is_past(deadline))
                throw util::Error("the send queue was not drained in time.");
    }

  private:
    ibv_sge entry() const {
        return {.addr = reinterpret_cast<std::uintptr_t>(memory_.data()),
                .length = static_cast<std::uint32_t>(memory_.size()),
                .lkey = mr_->lkey};
    }

    // Returns the errno with which the device or the kernel refuses the transition, or 0.
    int attempt(Transition transition, std::string_view why) {
        const auto from = rdma::name_of(query(qp_.get()).qp_state);
        const int error = ibv_modify_qp(qp_.get(), &transition.attributes, transition.mask);
        runlog::Fields fields{{"end", name_},
                              {"from", from},
                              {"to", rdma::name_of(transition.attributes.qp_state)},
                              {"result", error == 0 ? "done" : strerrorname_np(error)}};
        if (!why.empty())
            fields.emplace_back("why", why);
        log_.event("transition", std::move(fields));
        return error;
    }

    std::string name_;
    runlog::Log& log_;
    util::StopSignal& stop_;
    std::vector<std::byte> memory_;
    rdma::Mr mr_;
    rdma::Cq cq_;
    rdma::Qp qp_;
};

}  // namespace lesson05
