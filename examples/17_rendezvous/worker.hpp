// A rank that is not rank 0: its connection with rank 0, which is made by rdma_cm, and what passes
// over it.
#pragma once

#include <cstddef>
#include <optional>

#include "barriers.hpp"
#include "examples/common/cm_client.hpp"
#include "member.hpp"

namespace step17 {

/// Every call that fails throws util::Error or std::system_error.
class Worker : public Meeting {
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
        place_ = Place::parse(client_.answer());
        log.event("rank",
                  {{"rank", place_.rank}, {"ranks", job_.ranks}, {"qpn", client_.qp()->qp_num}});
        memory_.emplace(client_.pd(), log);
        const std::chrono::seconds patience{place_.patience_s + longer_than_rank_0_s};
        inbox_.emplace(
            place_.rank, patience, memory_->window.verdict,
            [this](util::Deadline deadline) { return next(deadline); }, log);
        // In time: rank 0 writes to nobody whose record it does not have.
        inbox_->add(client_.qp(), 0, receives);
    }

    std::uint16_t rank() const { return place_.rank; }

    void run() {
        ibv_qp* qp = client_.qp();
        const Self self{place_.rank, job_, *memory_, *inbox_, log_};
        Member(self, {qp->context, client_.pd(), qp->recv_cq, verbs::gid_of(qp)}, *this).run();
        client_.disconnect();
    }

    void exchange_records() override {
        write(memory_->of_desk(memory_->desk.slot.record), offsetof(Slot, record),
              generation::table);
        inbox_->await({{notice::of(0, generation::table), 0}}, "to publish the table");
        inbox_->await_sent();
    }

    void exchange_entries(std::uint16_t generation, const std::string& what) override {
        write(memory_->of_desk(memory_->desk.slot.entry), offsetof(Slot, entry), generation);
        inbox_->await({{notice::of(0, generation), 0}}, "at barrier " + what);
        inbox_->await_sent();
    }

  private:
    // Into this rank's own slot; the flag behind it says whose it is, and which generation's.
    void write(ibv_sge piece, std::size_t at, std::uint16_t generation) {
        ibv_send_wr wr{};
        wr.wr_id = inbox_->begin_send(client_.qp()->qp_num);
        wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.sg_list = &piece;
        wr.num_sge = 1;
        wr.imm_data = htonl(notice::of(place_.rank, generation));
        wr.wr.rdma.remote_addr = place_.slot.va + at;
        wr.wr.rdma.rkey = place_.slot.rkey;
        client_.post_send(wr);
    }

    std::optional<ibv_wc> next(util::Deadline deadline) {
        const auto wc = client_.completion_while_connected(deadline);
        if (!wc && stop_.requested())
            throw util::Error("stopped by a signal.");
        if (!wc && client_.has_ended())
            throw util::Error(
                fmt::format("rank {}: rank 0 has gone: it has ended the connection.", place_.rank));
        return wc;
    }

    static constexpr int completions = 96;          // of all queue pairs, both ways
    static constexpr std::uint32_t receives = 2;    // a release, and a verdict
    static constexpr int longer_than_rank_0_s = 5;  // as rank 0 knows better who is missing

    runlog::Log& log_;
    util::StopSignal& stop_;
    Job job_;
    common::CmClient client_;
    Place place_;
    std::optional<Memory> memory_;
    std::optional<Inbox> inbox_;
};

}  // namespace step17
