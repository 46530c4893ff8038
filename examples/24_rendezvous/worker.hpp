// Lesson 24: a rank other than rank 0: its rdma_cm connection with rank 0, and what it sends and
// receives over it.
#pragma once

#include <cstddef>
#include <optional>

#include "barriers.hpp"
#include "examples/common/cm_client.hpp"
#include "member.hpp"

namespace lesson24 {

/// Every call throws util::Error or std::system_error on failure.
class Worker : public RecordExchange {
  public:
    Worker(const common::ClientOptions& options, const Request& request, runlog::Log& log,
           util::StopSignal& stop)
        : log_(log), stop_(stop), job_(request.job), client_(options, completions, log, stop) {
        client_.make_qp({.max_send_wr = 2,
                         .max_recv_wr = receives,
                         .max_send_sge = 1,
                         .max_recv_sge = 1,
                         .max_inline_data = 0});
        client_.connect(request.serialize());
        place_ = Assignment::parse(client_.answer());
        log.event("rank",
                  {{"rank", place_.rank}, {"ranks", job_.ranks}, {"qpn", client_.qp()->qp_num}});
        memory_.emplace(client_.pd());
        const std::chrono::seconds time_limit{place_.time_limit_s + longer_than_rank_0_s};
        flags_.emplace(place_.rank, time_limit, memory_->window.verdict,
                       [this](util::Deadline deadline) { return next(deadline); });
        // In time: rank 0 writes only to ranks whose record it has.
        flags_->add(client_.qp(), 0, receives);
    }

    std::uint16_t rank() const { return place_.rank; }

    void run() {
        ibv_qp* qp = client_.qp();
        const Self self{place_.rank, job_, *memory_, *flags_, log_};
        Member(self, {qp->context, client_.pd(), qp->recv_cq, rdma::gid_of(qp)}, *this).run();
        client_.disconnect();
    }

    void exchange_records() override {
        raise(sge_of(memory_->desk_mr, memory_->desk.slot.record), offsetof(Slot, record),
              generation::table);
        flags_->await({{flag::of(0, generation::table), 0}}, "to publish the table");
        flags_->await_sent();
    }

    void exchange_entries(std::uint16_t generation, const std::string& what) override {
        raise(sge_of(memory_->desk_mr, memory_->desk.slot.entry), offsetof(Slot, entry),
              generation);
        flags_->await({{flag::of(0, generation), 0}}, "at barrier " + what);
        flags_->await_sent();
    }

  private:
    // Writes into this rank's slot on rank 0.
    void raise(ibv_sge data, std::size_t offset, std::uint16_t generation) {
        flags_->raise(client_.qp(), data, place_.slot.va + offset, place_.slot.rkey,
                      flag::of(place_.rank, generation));
    }

    std::optional<ibv_wc> next(util::Deadline deadline) {
        const auto wc = client_.completion_while_connected(deadline);
        if (!wc && stop_.requested())
            throw util::Error("stopped by a signal.");
        if (!wc && client_.has_ended())
            throw util::Error(
                fmt::format("rank {}: rank 0 has ended the connection.", place_.rank));
        return wc;
    }

    static constexpr int completions = 96;          // for all queue pairs, both directions
    static constexpr std::uint32_t receives = 2;    // for a release and a verdict
    static constexpr int longer_than_rank_0_s = 5;  // rank 0 knows better which rank is missing

    runlog::Log& log_;
    util::StopSignal& stop_;
    Job job_;
    common::CmClient client_;
    Assignment place_;
    std::optional<Memory> memory_;
    std::optional<Flags> flags_;
};

}  // namespace lesson24
