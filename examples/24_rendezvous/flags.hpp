// Lesson 24: flags. A rank raises a flag with a WRITE with immediate data: the data goes into the
// peer's memory, and the 32 immediate bits consume a receive, whose completion is the flag. Flags
// arrive in any order, on all queue pairs; ranks wait for specific ones, and flags stay raised.
#pragma once

#include <arpa/inet.h>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include <fmt/format.h>

#include "protocol.hpp"
#include "rdma/names.hpp"
#include "util/check.hpp"
#include "util/error.hpp"
#include "util/stop_signal.hpp"

namespace lesson24 {

class Flags {
  public:
    /// Returns the next completion; nullopt after the deadline. Throws if a peer has disconnected.
    using Next = std::function<std::optional<ibv_wc>(util::Deadline)>;

    /// `verdict`: where rank 0 writes the reason for giving up.
    Flags(std::uint16_t rank, std::chrono::seconds time_limit, std::span<const std::byte> verdict,
          Next next)
        : rank_(rank), time_limit_(time_limit), verdict_(verdict), next_(std::move(next)) {}

    /// Adds a queue pair to and from `peer`. Its receives must be posted before the peer can write.
    void add(ibv_qp* qp, std::uint16_t peer, unsigned receives) {
        queues_[qp->qp_num] = {.qp = qp, .peer = peer};
        for (unsigned i = 0; i < receives; ++i)
            post_receive(qp);
    }
    /// Stops waiting for requests on this queue pair.
    void forget(std::uint32_t qpn) { queues_.erase(qpn); }
    void forget_all() { queues_.clear(); }

    /// Writes `data` to the peer's memory, and raises `flag` there.
    void raise(ibv_qp* qp, ibv_sge data, std::uint64_t va, std::uint32_t rkey, std::uint32_t flag) {
        ibv_send_wr wr{.wr_id = ++wr_id_,
                       .sg_list = &data,
                       .num_sge = 1,
                       .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                       .send_flags = IBV_SEND_SIGNALED,
                       .imm_data = htonl(flag),
                       .wr = {.rdma = {.remote_addr = va, .rkey = rkey}}};
        ibv_send_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_send(qp, &wr, &bad_wr));
        ++queues_.at(qp->qp_num).outstanding;
    }

    bool is_raised(std::uint32_t flag) const { return raised_.contains(flag); }

    /// Waits until all `flags` are raised, each by the given rank. `what`: for the error that lists
    /// the missing ranks, "at barrier ready".
    void await(const std::map<std::uint32_t, std::uint16_t>& flags, const std::string& what) {
        const util::Deadline deadline = util::deadline_in(time_limit_);
        while (true) {
            std::set<std::uint16_t> missing;
            for (const auto& [flag, rank] : flags)
                if (!is_raised(flag))
                    missing.insert(rank);
            if (missing.empty())
                return;
            if (!take_one(deadline))
                throw util::Error(fmt::format("rank {} has waited {} s for {} {}.", rank_,
                                              time_limit_.count(), names_of(missing), what));
        }
    }

    /// Waits until all WRITEs have completed, so that their data may be overwritten.
    void await_sent() { await_sent(util::deadline_in(time_limit_)); }
    void await_sent(util::Deadline deadline) {
        for (auto ranks = silent(); !ranks.empty(); ranks = silent())
            if (!take_one(deadline))
                throw util::Error(
                    fmt::format("no response from {} to rank {}'s WRITE.", names_of(ranks), rank_));
    }

  private:
    struct Queue {
        ibv_qp* qp = nullptr;
        std::uint16_t peer = 0;
        unsigned outstanding = 0;  // number of WRITEs
    };

    // Returns the ranks with unacknowledged WRITEs.
    std::set<std::uint16_t> silent() const {
        std::set<std::uint16_t> ranks;
        for (const auto& [qpn, queue] : queues_)
            if (queue.outstanding != 0)
                ranks.insert(queue.peer);
        return ranks;
    }

    bool take_one(util::Deadline deadline) {
        const auto wc = next_(deadline);
        if (!wc)
            return false;
        const auto queue = queues_.find(wc->qp_num);
        if (queue == queues_.end())
            return true;
        if (wc->status != IBV_WC_SUCCESS)
            throw util::Error(fmt::format("rank {}'s connection with rank {} failed: {} ({}).",
                                          rank_, queue->second.peer, rdma::name_of(wc->status),
                                          ibv_wc_status_str(wc->status)));
        if ((wc->opcode & IBV_WC_RECV) == 0) {
            --queue->second.outstanding;
            return true;
        }
        const std::uint32_t flag = ntohl(wc->imm_data);
        if (flag == flag::failed)
            throw util::Error(fmt::format("rank {}: rank 0 ends the rendezvous: {}", rank_,
                                          sentence_in(verdict_)));
        // The data is in memory before the receive completes. A flag that is raised twice has two
        // writers, or one that did not wait.
        if (!raised_.insert(flag).second)
            throw util::Error(
                fmt::format("rank {} raises flag {:#010x} twice.", queue->second.peer, flag));
        post_receive(queue->second.qp);
        return true;
    }

    // Posts a receive without a buffer: the WRITE carries the address of its data.
    void post_receive(ibv_qp* qp) {
        ibv_recv_wr wr{.wr_id = ++wr_id_};
        ibv_recv_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_recv(qp, &wr, &bad_wr));
    }

    std::uint16_t rank_;
    std::chrono::seconds time_limit_;
    std::span<const std::byte> verdict_;
    Next next_;
    std::map<std::uint32_t, Queue> queues_;  // by QPN
    std::set<std::uint32_t> raised_;
    std::uint64_t wr_id_ = 1000 * (rank_ + std::uint64_t{1});
};

}  // namespace lesson24
