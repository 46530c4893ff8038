// What step 18's server has of one client: its slots, its queue pair, and where its results go.
#pragma once

#include <algorithm>
#include <arpa/inet.h>
#include <vector>

#include "cm/events.hpp"
#include "recorder.hpp"
#include "slots.hpp"
#include "util/check.hpp"
#include "verbs/completion.hpp"
#include "verbs/device.hpp"

namespace step18 {

/// Every call that fails throws util::Error or std::system_error. Destroying it ends the
/// connection.
class Session {
  public:
    /// A protection domain of its own: no client's key is worth anything on another's connection.
    Session(cm::Id id, const Greeting& greeting, std::uint64_t number, ibv_cq* completions,
            Recorder& recorder, runlog::Log& log)
        : greeting_(greeting),
          number_(number),
          recorder_(recorder),
          log_(log),
          id_(std::move(id)),
          pd_(util::check_ptr(ibv_alloc_pd(id_->verbs), "ibv_alloc_pd")),
          slots_(greeting.shape),
          memory_(greeting.shape.slots_size()),
          outputs_(greeting.shape.results()),
          is_sending_(greeting.shape.depth),
          memory_mr_(verbs::register_memory(pd_.get(), memory_,
                                            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)),
          outputs_mr_(
              verbs::register_memory(pd_.get(), std::as_writable_bytes(std::span(outputs_)), 0)) {
        log.event("mr",
                  verbs::describe(*memory_mr_, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
        log.event("mr", verbs::describe(*outputs_mr_, 0));
        ibv_qp_init_attr attributes{};
        attributes.qp_type = IBV_QPT_RC;
        attributes.send_cq = completions;
        attributes.recv_cq = completions;
        attributes.cap = {.max_send_wr = max_sends(greeting.shape),
                          .max_recv_wr = greeting.shape.depth,
                          .max_send_sge = 1,
                          .max_recv_sge = 1,
                          .max_inline_data = 0};
        qp_ = cm::make_qp(id_.get(), pd_.get(), attributes);
        log.event("qp", verbs::describe(*qp_->qp, attributes.cap));
        for (std::uint16_t i = 0; i < greeting.shape.depth; ++i)
            post_receive();
        recorder_.write();
    }

    /// Two for a result, one for the word to begin.
    static constexpr std::uint32_t max_sends(const Shape& shape) { return 2u * shape.depth + 1; }

    std::uint64_t number() const { return number_; }
    std::uint32_t qpn() const { return qp_->qp->qp_num; }
    std::uint16_t clients() const { return greeting_.clients; }
    bool is_quiet() const { return greeting_.is_quiet; }
    bool is_waiting() const { return psns_ && !has_begun_; }
    std::uint32_t unanswered() const { return slots_.unanswered(); }

    void accept() {
        const cm::Capability capability{.va = reinterpret_cast<std::uintptr_t>(memory_.data()),
                                        .length = memory_.size(),
                                        .rkey = memory_mr_->rkey};
        const auto bytes = capability.serialize();
        rdma_conn_param parameters{};
        parameters.private_data = bytes.data();
        parameters.private_data_len = bytes.size();
        parameters.rnr_retry_count = 7;
        util::check_errno(rdma_accept(id_.get(), &parameters), "rdma_accept");
        log_.event("exchange", cm::describe(greeting_.results, "received"));
        log_.event("exchange", cm::describe(capability, "sent"));
    }

    void established() {
        log_.event("device", verbs::describe_device(qp_->qp));
        log_.event("qp_state", verbs::query_state(qp_->qp));
        psns_ = verbs::PsnPredictor::of(qp_->qp);
    }

    /// All clients of its run are there: the word to begin, which has no bytes.
    void begin_run() {
        has_begun_ = true;
        ibv_send_wr wr = notice(begin);
        post(wr);
    }

    /// A notice has come, with this immediate data and so many bytes. How many requests its batch
    /// has. Throws util::Error where it is not the next batch's.
    std::uint32_t take_notice(std::uint32_t id, std::uint32_t byte_len) {
        post_receive();
        const auto slot =
            std::span<const std::byte>(memory_).subspan(greeting_.shape.header_at(id));
        const auto header = Header::parse(slot.first<Header::size>());
        slots_.take(id, byte_len, header);
        return header.requests;
    }

    /// False while the batch before in this slot still leaves the memory for its results.
    bool may_answer(std::uint32_t id) const { return !is_sending_[greeting_.shape.slot_of(id)]; }

    /// The batch's results into the client's slot, and a notice behind them that has its id.
    void answer(std::uint32_t id, std::uint32_t requests, const Model& model) {
        const Shape& shape = greeting_.shape;
        const auto* inputs = reinterpret_cast<const Input*>(memory_.data() + shape.input_at(id, 0));
        model.infer(std::span(inputs, requests),
                    std::span(outputs_).subspan(shape.output_at(id), requests));
        const std::size_t at = shape.output_at(id) * sizeof(Output);
        ibv_sge piece{.addr = reinterpret_cast<std::uintptr_t>(outputs_.data()) + at,
                      .length = static_cast<std::uint32_t>(requests * sizeof(Output)),
                      .lkey = outputs_mr_->lkey};
        ibv_send_wr wr = notice(id);
        ibv_send_wr results{};
        results.wr_id = wr.wr_id;
        results.opcode = IBV_WR_RDMA_WRITE;
        results.sg_list = &piece;
        results.num_sge = 1;
        results.wr.rdma.remote_addr = greeting_.results.va + at;
        results.wr.rdma.rkey = greeting_.results.rkey;
        results.next = &wr;
        is_sending_[shape.slot_of(id)] = true;
        slots_.answer();
        if (!sending_since_)
            sending_since_ = util::Clock::now();
        post(results);
    }

    /// A notice of this session has completed: the client's device has all of it.
    void sent(std::uint64_t wr_id) {
        if (wr_id != 0)
            is_sending_[greeting_.shape.slot_of(static_cast<std::uint32_t>(wr_id - 1))] = false;
        sending_since_.reset();
        if (std::ranges::find(is_sending_, true) != is_sending_.end())
            sending_since_ = util::Clock::now();
    }

    /// Since when nothing of what is on its way to the client has been acknowledged; Soft-RoCE
    /// repeats it without end.
    std::optional<util::Clock::time_point> sending_since() const { return sending_since_; }

  private:
    // wr_id: of the word to begin 0, of batches from 1 on.
    ibv_send_wr notice(std::uint32_t id) const {
        ibv_send_wr wr{};
        wr.wr_id = std::uint32_t{id + 1};
        wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.imm_data = htonl(id);
        wr.wr.rdma.remote_addr = greeting_.results.va;
        wr.wr.rdma.rkey = greeting_.results.rkey;
        return wr;
    }

    void post(ibv_send_wr& list) {
        for (ibv_send_wr* wr = &list; wr != nullptr; wr = wr->next) {
            const auto psns = psns_->take(wr->opcode, verbs::length_of(*wr));
            if (!is_quiet())
                recorder_.post_send(*qp_->qp, *wr, psns);
        }
        ibv_send_wr* refused = nullptr;
        util::check_rc(ibv_post_send(qp_->qp, &list, &refused), "ibv_post_send");
    }

    void post_receive() {
        ibv_recv_wr wr{};
        wr.wr_id = number_;
        if (!is_quiet())
            recorder_.post_recv(*qp_->qp, wr);
        ibv_recv_wr* refused = nullptr;
        util::check_rc(ibv_post_recv(qp_->qp, &wr, &refused), "ibv_post_recv");
    }

    Greeting greeting_;
    std::uint64_t number_;
    Recorder& recorder_;
    runlog::Log& log_;
    cm::Id id_;
    verbs::Pd pd_;
    ServerSlots slots_;
    std::vector<std::byte> memory_;
    std::vector<Output> outputs_;
    std::vector<bool> is_sending_;  // by slot
    verbs::Mr memory_mr_, outputs_mr_;
    cm::Qp qp_;
    std::optional<verbs::PsnPredictor> psns_;
    std::optional<util::Clock::time_point> sending_since_;
    bool has_begun_ = false;
};

}  // namespace step18
