// A client's connection to step 18's server: slots to write batches into, and memory that results
// are written into.
#pragma once

#include <arpa/inet.h>
#include <array>
#include <deque>
#include <string>

#include "examples/common/cm_client.hpp"
#include "recorder.hpp"
#include "slots.hpp"
#include "util/check.hpp"
#include "verbs/names.hpp"

namespace step18 {

/// What is asked of a connection.
struct Terms {
    Shape shape;
    std::uint16_t clients = 1;
    bool is_quiet = false;
    std::string wrong;  // what of the first batch is made wrong: "id", "count" or "length"
};

/// Every call that fails throws util::Error or std::system_error.
class Connection {
  public:
    /// `inputs`: of all requests, wherever they may lie. They and the references outlive it.
    Connection(const common::ClientOptions& options, const Terms& terms, std::span<Input> inputs,
               Recorder& recorder, runlog::Log& log, util::StopSignal& stop)
        : terms_(terms),
          recorder_(recorder),
          stop_(stop),
          slots_(terms.shape),
          results_(terms.shape.results()),
          client_(options, static_cast<int>(max_sends() + max_receives()), log, stop),
          inputs_mr_(verbs::register_memory(client_.pd(), std::as_writable_bytes(inputs), 0)),
          results_mr_(verbs::register_memory(client_.pd(),
                                             std::as_writable_bytes(std::span(results_)), lent)) {
        log.event("mr", verbs::describe(*inputs_mr_, 0));
        log.event("mr", verbs::describe(*results_mr_, lent));
        client_.make_qp({.max_send_wr = max_sends(),
                         .max_recv_wr = max_receives(),
                         .max_send_sge = 1,
                         .max_recv_sge = 1,
                         .max_inline_data = Header::size});
        for (std::uint32_t i = 0; i < max_receives(); ++i)
            post_receive();
        recorder_.write();
        const Greeting greeting{{.va = reinterpret_cast<std::uintptr_t>(results_.data()),
                                 .length = results_mr_->length,
                                 .rkey = results_mr_->rkey},
                                terms.shape,
                                terms.clients,
                                terms.is_quiet};
        log.event("exchange", cm::describe(greeting.results, "sent"));
        remote_ = client_.connect(greeting.serialize());
        if (remote_.length != terms.shape.slots_size())
            throw util::Error(
                "the server lends other slots than were asked for. Is it another step's?");
    }

    /// Whether there is a slot, and room in the send queue for whatever goes into it.
    bool may_send() const {
        return slots_.has_free() && in_queue_ + terms_.shape.batch + 1u <= max_sends();
    }
    std::size_t unanswered() const { return slots_.outstanding(); }

    /// 1. A batch: each input by a WRITE of its own, from where the request has it, then the
    /// notice. They are one list for the device. The order of requests on one queue pair does the
    /// rest: when the notice's completion is there, so are the bytes of each WRITE before it.
    std::uint32_t send(std::size_t first, std::uint32_t requests) {
        const std::uint32_t id = slots_.take();
        std::vector<ibv_sge> pieces(requests + 1);
        std::vector<ibv_send_wr> wrs(requests + 1);
        for (std::size_t i = 0; i < requests; ++i) {
            pieces[i] = common::piece_of(*inputs_mr_, (first + i) * sizeof(Input), sizeof(Input));
            wrs[i].opcode = IBV_WR_RDMA_WRITE;
            wrs[i].wr.rdma.remote_addr = remote_.va + terms_.shape.input_at(id, i);
            wrs[i].next = &wrs[i + 1];
        }
        pieces.back() = header_of(id, requests);
        describe_notice(wrs.back(), id);
        for (std::size_t i = 0; i <= requests; ++i)
            finish(wrs[i], pieces[i]);
        ibv_send_wr* refused = nullptr;
        util::check_rc(ibv_post_send(client_.qp(), wrs.data(), &refused), "ibv_post_send");
        lists_.push_back(requests + 1);
        in_queue_ += requests + 1;
        return id;
    }

    /// 2. The immediate data of the next result's notice, or `begin`; nullopt where none is there.
    std::optional<std::uint32_t> next_notice() {
        while (const auto wc = client_.completions().next(stop_, util::Clock::now())) {
            if (!terms_.is_quiet || wc->status != IBV_WC_SUCCESS)
                recorder_.completed(*wc);
            if (wc->status != IBV_WC_SUCCESS)
                throw util::Error(fmt::format(
                    "a request to the server failed with {} unanswered: {} ({}). Is it still "
                    "running?",
                    unanswered_text(), verbs::name_of(wc->status), ibv_wc_status_str(wc->status)));
            if ((wc->opcode & IBV_WC_RECV) != 0) {
                post_receive();
                return ntohl(wc->imm_data);
            }
            in_queue_ -= lists_.front();  // the notice is the last of its list
            lists_.pop_front();
        }
        return std::nullopt;
    }

    /// What has come for this batch, until its slot is taken again.
    std::span<const Output> outputs_of(std::uint32_t id) const {
        return std::span(results_).subspan(terms_.shape.output_at(id), terms_.shape.batch);
    }
    void free(std::uint32_t id) { slots_.free(id); }

    void disconnect() { client_.disconnect(); }
    int completions_fd() { return client_.completions().channel->fd; }
    int events_fd() const { return client_.events_fd(); }

    /// The connection has an event. Throws util::Error where that is the end.
    void take_event() {
        recorder_.write();
        if (client_.has_ended())
            throw util::Error(
                fmt::format("the server has ended the connection with {} unanswered: its log says "
                            "why, if it still runs.",
                            unanswered_text()));
    }

    std::string unanswered_text() const {
        return fmt::format("{} batch{}", unanswered(), unanswered() == 1 ? "" : "es");
    }

  private:
    ibv_sge header_of(std::uint32_t id, std::uint32_t requests) {
        const bool is_wrong = id == 0 && terms_.wrong == "count";
        header_ = Header{id, is_wrong ? terms_.shape.batch + 1u : requests}.serialize();
        return {.addr = reinterpret_cast<std::uintptr_t>(header_.data()),
                .length = id == 0 && terms_.wrong == "length" ? 4u : std::uint32_t{Header::size},
                .lkey = 0};
    }

    // The only one that is signalled: when it has completed, all before it have. Its bytes are
    // taken while it is posted.
    void describe_notice(ibv_send_wr& wr, std::uint32_t id) const {
        wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
        wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
        wr.imm_data = htonl(id == 0 && terms_.wrong == "id" ? 1000 : id);
        wr.wr.rdma.remote_addr = remote_.va + terms_.shape.header_at(id);
    }

    void finish(ibv_send_wr& wr, ibv_sge& piece) {
        wr.wr_id = ++wr_id_;
        wr.sg_list = &piece;
        wr.num_sge = 1;
        wr.wr.rdma.rkey = remote_.rkey;
        const auto psns = client_.take_psns(wr);
        if (!terms_.is_quiet)
            recorder_.post_send(*client_.qp(), wr, psns);
    }

    void post_receive() {
        ibv_recv_wr wr{};
        if (!terms_.is_quiet)
            recorder_.post_recv(*client_.qp(), wr);
        ibv_recv_wr* refused = nullptr;
        util::check_rc(ibv_post_recv(client_.qp(), &wr, &refused), "ibv_post_recv");
    }

    // A result can be taken before the notice that asked for it has completed: so for twice as
    // many batches as there are slots.
    std::uint32_t max_sends() const { return 2u * terms_.shape.depth * (terms_.shape.batch + 1u); }
    std::uint32_t max_receives() const { return terms_.shape.depth + 1u; }
    static constexpr int lent = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

    Terms terms_;
    Recorder& recorder_;
    util::StopSignal& stop_;
    ClientSlots slots_;
    std::vector<Output> results_;
    std::array<std::byte, Header::size> header_{};
    common::CmClient client_;
    verbs::Mr inputs_mr_, results_mr_;
    cm::Capability remote_;
    std::uint64_t wr_id_ = 0;
    std::uint32_t in_queue_ = 0;       // requests that have not completed
    std::deque<std::uint32_t> lists_;  // how many of them each batch has
};

}  // namespace step18
