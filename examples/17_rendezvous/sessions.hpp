// The ranks that have come to rank 0: their connections, and a slot for each.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cm/events.hpp"
#include "inbox.hpp"
#include "memory.hpp"
#include "verbs/device.hpp"
#include "verbs/psn.hpp"

namespace step17 {

/// Every call that fails throws util::Error or std::system_error.
class Sessions {
  public:
    Sessions(const Job& job, std::chrono::seconds patience, ibv_pd* pd, ibv_cq* cq, Inbox& inbox,
             runlog::Log& log)
        : job_(job),
          patience_(patience),
          pd_(pd),
          cq_(cq),
          inbox_(inbox),
          log_(log),
          slots_(job.ranks) {}

    const Slot& slot(std::uint16_t rank) const { return slots_.at(rank); }
    bool empty() const { return sessions_.empty(); }
    /// Those that are connected now.
    std::vector<std::uint16_t> ranks() const {
        std::vector<std::uint16_t> ranks;
        for (const auto& [rank, session] : sessions_)
            ranks.push_back(rank);
        return ranks;
    }
    ibv_qp* qp(std::uint16_t rank) const { return sessions_.at(rank).id->qp; }

    /// Which rank it becomes. Throws util::Error, for the one that asks, where it can be none.
    std::uint16_t rank_for(const Request& request) const {
        if (request.job != job_)
            throw util::Error(fmt::format(
                "this rendezvous is of {} ranks and {} barriers of a kind, or another is late.",
                job_.ranks, job_.barriers));
        if (taken_.size() + 1 == job_.ranks && request.rank == Request::any_rank)
            throw util::Error(fmt::format("all {} ranks have come already.", job_.ranks));
        std::uint16_t rank = request.rank;
        if (rank == Request::any_rank)
            for (rank = 1; taken_.contains(rank);)
                ++rank;
        if (rank == 0 || rank >= job_.ranks)
            throw util::Error(fmt::format("rank {} is none of 1 to {}.", rank, job_.ranks - 1));
        if (taken_.contains(rank))
            throw util::Error(fmt::format("rank {} has come already.", rank));
        return rank;
    }

    /// 1. A rank comes: its own slot is lent to it, by a key of its own, and receives are there
    /// before it can write.
    void admit(cm::Id id, std::uint16_t rank) {
        rdma_cm_id* key = id.get();
        Session session{.slot_mr = lend(slots_.at(rank)), .id = std::move(id)};
        ibv_qp_init_attr attributes{};
        attributes.qp_type = IBV_QPT_RC;
        attributes.send_cq = cq_;
        attributes.recv_cq = cq_;
        attributes.cap = {.max_send_wr = 2,
                          .max_recv_wr = receives,
                          .max_send_sge = 1,
                          .max_recv_sge = 1,
                          .max_inline_data = 0};
        session.qp = cm::make_qp(key, pd_, attributes);
        log_.event("qp", verbs::describe(*key->qp, attributes.cap));
        inbox_.add(key->qp, rank, receives);
        answer(key, {.slot = {.va = reinterpret_cast<std::uintptr_t>(&slots_[rank]),
                              .length = sizeof(Slot),
                              .rkey = session.slot_mr->rkey},
                     .rank = rank,
                     .patience_s = static_cast<std::uint16_t>(patience_.count())});
        // In RTS already; but nothing is sent before this rank's record has come.
        log_.event("device", verbs::describe_device(key->qp));
        log_.event("qp_state", verbs::query_state(key->qp));
        session.psns = verbs::PsnPredictor::of(key->qp);
        sessions_.emplace(rank, std::move(session));
        taken_.insert(rank);
    }

    /// 2. A rank goes; which one it was.
    std::optional<std::uint16_t> leave(const rdma_cm_id* id) {
        const auto session = std::ranges::find_if(
            sessions_, [&](const auto& entry) { return entry.second.id.get() == id; });
        if (session == sessions_.end())
            return std::nullopt;
        const std::uint16_t rank = session->first;
        inbox_.forget(id->qp->qp_num);
        sessions_.erase(session);
        return rank;
    }

    /// 3. Into that rank's window: data, and the flag behind it.
    void write(std::uint16_t rank, ibv_sge piece, std::size_t at, std::uint32_t notice) {
        const Record record = Record::parse(slot(rank).record, rank);
        Session& session = sessions_.at(rank);
        ibv_qp* qp = session.id->qp;
        ibv_send_wr wr{};
        wr.wr_id = inbox_.begin_send(qp->qp_num);
        wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.sg_list = &piece;
        wr.num_sge = 1;
        wr.imm_data = htonl(notice);
        wr.wr.rdma.remote_addr = record.va + at;
        wr.wr.rdma.rkey = record.rkey;
        log_.event("post_send",
                   verbs::describe(*qp, wr, session.psns->take(wr.opcode, piece.length)));
        ibv_send_wr* refused = nullptr;
        util::check_rc(ibv_post_send(qp, &wr, &refused), "ibv_post_send");
    }

  private:
    struct Session {
        verbs::Mr slot_mr;
        cm::Id id;
        cm::Qp qp{};
        std::optional<verbs::PsnPredictor> psns{};
    };

    void answer(rdma_cm_id* id, const Place& place) {
        const auto bytes = place.serialize();
        rdma_conn_param parameters{};
        parameters.private_data = bytes.data();
        parameters.private_data_len = bytes.size();
        parameters.responder_resources = 1;
        parameters.rnr_retry_count = 7;
        util::check_errno(rdma_accept(id, &parameters), "rdma_accept");
        log_.event("exchange", cm::describe(place.slot, "sent"));
    }

    verbs::Mr lend(Slot& slot) {
        constexpr int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
        verbs::Mr mr =
            verbs::register_memory(pd_, std::as_writable_bytes(std::span(&slot, 1)), access);
        log_.event("mr", verbs::describe(*mr, access));
        return mr;
    }

    static constexpr unsigned receives = 2;

    Job job_;
    std::chrono::seconds patience_;
    ibv_pd* pd_;
    ibv_cq* cq_;
    Inbox& inbox_;
    runlog::Log& log_;
    std::vector<Slot> slots_;                    // by rank
    std::map<std::uint16_t, Session> sessions_;  // by rank
    std::set<std::uint16_t> taken_;              // also by those that have gone again
};

}  // namespace step17
