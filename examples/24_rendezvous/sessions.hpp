// Lesson 24: the ranks connected to rank 0: their connections and slots.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "flags.hpp"
#include "memory.hpp"
#include "rdma/cm_events.hpp"
#include "rdma/cm_handles.hpp"
#include "runlog/log.hpp"

namespace lesson24 {

/// Every call throws util::Error or std::system_error on failure.
class Sessions {
  public:
    Sessions(const Job& job, std::chrono::seconds time_limit, ibv_pd* pd, ibv_cq* cq, Flags& flags,
             runlog::Log& log)
        : job_(job),
          time_limit_(time_limit),
          pd_(pd),
          cq_(cq),
          flags_(flags),
          log_(log),
          slots_(job.ranks) {}

    const Slot& slot(std::uint16_t rank) const { return slots_.at(rank); }
    bool empty() const { return sessions_.empty(); }
    /// Returns the connected ranks.
    std::vector<std::uint16_t> ranks() const {
        std::vector<std::uint16_t> ranks;
        for (const auto& [rank, session] : sessions_)
            ranks.push_back(rank);
        return ranks;
    }
    ibv_qp* qp(std::uint16_t rank) const { return sessions_.at(rank).id->qp; }

    /// Returns the rank to assign. Throws util::Error if there is none.
    std::uint16_t rank_for(const Request& request) const {
        if (request.job != job_)
            throw util::Error(fmt::format(
                "this rendezvous has {} ranks and {} barriers of each kind, or another late rank.",
                job_.ranks, job_.barriers));
        if (taken_.size() + 1 == job_.ranks && request.rank == Request::any_rank)
            throw util::Error(fmt::format("all {} ranks have already joined.", job_.ranks));
        std::uint16_t rank = request.rank;
        if (rank == Request::any_rank)
            for (rank = 1; taken_.contains(rank);)
                ++rank;
        if (rank == 0 || rank >= job_.ranks)
            throw util::Error(
                fmt::format("rank {} is not in the range 1 to {}.", rank, job_.ranks - 1));
        if (taken_.contains(rank))
            throw util::Error(fmt::format("rank {} has already joined.", rank));
        return rank;
    }

    /// Admits a rank.
    void admit(rdma::CmId owned, std::uint16_t rank) {
        // 1. Expose its slot, with its own rkey.
        rdma_cm_id* id = owned.get();
        Slot& slot = slots_.at(rank);
        Session session{
            .slot_mr = rdma::Mr{CHECK_PTR(ibv_reg_mr(
                pd_, &slot, sizeof slot, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE))},
            .id = std::move(owned)};

        // 2. Post its receives before it can write.
        ibv_qp_init_attr init{.send_cq = cq_,
                              .recv_cq = cq_,
                              .cap = {.max_send_wr = 2,
                                      .max_recv_wr = receives,
                                      .max_send_sge = 1,
                                      .max_recv_sge = 1},
                              .qp_type = IBV_QPT_RC};
        CHECK_ERRNO(rdma_create_qp(id, pd_, &init));
        session.qp.reset(id);
        flags_.add(id->qp, rank, receives);

        // 3. The reply gives the slot's address. Nothing is sent before the rank's record has
        // arrived.
        const Assignment place{.slot = {.va = reinterpret_cast<std::uintptr_t>(&slot),
                                        .length = sizeof slot,
                                        .rkey = session.slot_mr->rkey},
                               .rank = rank,
                               .time_limit_s = static_cast<std::uint16_t>(time_limit_.count())};
        const auto bytes = place.serialize();
        rdma_conn_param parameters{.private_data = bytes.data(),
                                   .private_data_len = bytes.size(),
                                   .responder_resources = 1,
                                   .rnr_retry_count = 7};  // without limit
        CHECK_ERRNO(rdma_accept(id, &parameters));
        log_.event("exchange", rdma::describe(place.slot, "sent"));
        sessions_.emplace(rank, std::move(session));
        taken_.insert(rank);
    }

    /// Removes a rank and returns it; nullopt if the id is unknown.
    std::optional<std::uint16_t> leave(const rdma_cm_id* id) {
        const auto session = std::ranges::find_if(
            sessions_, [&](const auto& entry) { return entry.second.id.get() == id; });
        if (session == sessions_.end())
            return std::nullopt;
        const std::uint16_t rank = session->first;
        flags_.forget(id->qp->qp_num);
        sessions_.erase(session);
        return rank;
    }

  private:
    struct Session {
        rdma::Mr slot_mr;
        rdma::CmId id;
        rdma::CmQp qp{};
    };

    static constexpr unsigned receives = 2;

    Job job_;
    std::chrono::seconds time_limit_;
    ibv_pd* pd_;
    ibv_cq* cq_;
    Flags& flags_;
    runlog::Log& log_;
    std::vector<Slot> slots_;                    // by rank
    std::map<std::uint16_t, Session> sessions_;  // by rank
    std::set<std::uint16_t> taken_;              // including ranks that have disconnected
};

}  // namespace lesson24
