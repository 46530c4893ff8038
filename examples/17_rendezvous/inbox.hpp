// The flags that were raised: completions of receives that WRITEs with immediate data took, on all
// queue pairs of a rank. They come in any order, are waited for by name, and stay up.
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

#include "runlog/log.hpp"
#include "util/check.hpp"
#include "util/error.hpp"
#include "util/stop_signal.hpp"
#include "verbs/describe.hpp"
#include "verbs/names.hpp"
#include "words.hpp"

namespace step17 {

class Inbox {
  public:
    /// The next completion, logged; nullopt when the deadline passed. Throws where a peer has gone.
    using Next = std::function<std::optional<ibv_wc>(util::Deadline)>;

    /// `verdict`: where rank 0 writes why it gives up.
    Inbox(std::uint16_t rank, std::chrono::seconds patience, std::span<const std::byte> verdict,
          Next next, runlog::Log& log)
        : rank_(rank), patience_(patience), verdict_(verdict), next_(std::move(next)), log_(log) {}

    /// What comes from, and what goes to, this rank. Its receives must be there before the peer can
    /// write.
    void add(ibv_qp* qp, std::uint16_t peer, unsigned receives) {
        lines_[qp->qp_num] = {.qp = qp, .peer = peer};
        for (unsigned i = 0; i < receives; ++i)
            post_receive(qp);
    }
    /// Nobody waits for what was sent there any more.
    void forget(std::uint32_t qpn) { lines_.erase(qpn); }
    void forget_all() { lines_.clear(); }

    /// The number of a request that is about to be posted.
    std::uint64_t begin_send(std::uint32_t qpn) {
        ++lines_.at(qpn).on_their_way;
        return ++wr_id_;
    }

    bool has(std::uint32_t notice) const { return raised_.contains(notice); }

    /// Until each of these has been raised. `notices`: and by which rank; `what` it was to do
    /// there, for a sentence that names those who have not: "at barrier ready".
    void await(const std::map<std::uint32_t, std::uint16_t>& notices, const std::string& what) {
        const util::Deadline deadline = util::deadline_in(patience_);
        while (true) {
            std::set<std::uint16_t> missing;
            for (const auto& [notice, rank] : notices)
                if (!has(notice))
                    missing.insert(rank);
            if (missing.empty())
                return;
            if (!take_one(deadline))
                throw util::Error(fmt::format("rank {} has waited {} s for {} {}.", rank_,
                                              patience_.count(), names_of(missing), what));
        }
    }

    /// Until all that was sent has completed, and may be overwritten.
    void await_sent() { await_sent(util::deadline_in(patience_)); }
    void await_sent(util::Deadline deadline) {
        for (auto ranks = unanswered(); !ranks.empty(); ranks = unanswered())
            if (!take_one(deadline))
                throw util::Error(fmt::format("{} {} not answer rank {}'s WRITE.", names_of(ranks),
                                              ranks.size() == 1 ? "does" : "do", rank_));
    }

  private:
    struct Line {
        ibv_qp* qp = nullptr;
        std::uint16_t peer = 0;
        unsigned on_their_way = 0;
    };

    std::set<std::uint16_t> unanswered() const {
        std::set<std::uint16_t> ranks;
        for (const auto& [qpn, line] : lines_)
            if (line.on_their_way != 0)
                ranks.insert(line.peer);
        return ranks;
    }

    bool take_one(util::Deadline deadline) {
        const auto wc = next_(deadline);
        if (!wc)
            return false;
        const auto line = lines_.find(wc->qp_num);
        if (line == lines_.end())
            return true;
        if (wc->status != IBV_WC_SUCCESS)
            throw util::Error(fmt::format("rank {}'s connection with rank {} failed: {} ({}).",
                                          rank_, line->second.peer, verbs::name_of(wc->status),
                                          ibv_wc_status_str(wc->status)));
        if ((wc->opcode & IBV_WC_RECV) == 0) {
            --line->second.on_their_way;
            return true;
        }
        const std::uint32_t notice = ntohl(wc->imm_data);
        if (notice == notice::failed)
            throw util::Error(fmt::format("rank {}: rank 0 ends the rendezvous: {}", rank_,
                                          sentence_in(verdict_)));
        // The data is there, all of it, before the receive completes. What is raised
        // twice would be two writers, or one that did not wait.
        if (!raised_.insert(notice).second)
            throw util::Error(
                fmt::format("rank {} raises flag {:#010x} twice.", line->second.peer, notice));
        post_receive(line->second.qp);
        return true;
    }

    void post_receive(ibv_qp* qp) {
        ibv_recv_wr wr{};
        wr.wr_id = ++wr_id_;
        log_.event("post_recv", verbs::describe(*qp, wr));
        ibv_recv_wr* refused = nullptr;
        util::check_rc(ibv_post_recv(qp, &wr, &refused), "ibv_post_recv");
    }

    std::uint16_t rank_;
    std::chrono::seconds patience_;
    std::span<const std::byte> verdict_;
    Next next_;
    runlog::Log& log_;
    std::map<std::uint32_t, Line> lines_;  // by QPN
    std::set<std::uint32_t> raised_;
    std::uint64_t wr_id_ = 1000 * (rank_ + std::uint64_t{1});
};

}  // namespace step17
