// Lesson 24: rank 0. The others write their data into its slots; after the last one has arrived, rank
// 0 writes everything to all ranks.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "member.hpp"
#include "rdma/completion.hpp"
#include "sessions.hpp"

namespace lesson24 {

/// A rendezvous: created for the first rank, destroyed after the last one.
class RankZero : public RecordExchange {
  public:
    /// `first`: the first rank's connection. `next`: as in Flags; it passes connections to
    /// sessions() and disconnects to leave().
    RankZero(rdma_cm_id* first, const Job& job, std::chrono::seconds time_limit, Flags::Next next,
             runlog::Log& log)
        : log_(log),
          job_(job),
          gid_(rdma::choose_gid(first->verbs, util::Address(rdma_get_local_addr(first)))),
          pd_(CHECK_PTR(ibv_alloc_pd(first->verbs))),
          completions_(first->verbs, 8 * most_ranks),
          memory_(pd_.get()),
          flags_(0, time_limit, memory_.window.verdict, std::move(next)),
          sessions_(job, time_limit, pd_.get(), completions_.cq.get(), flags_, log) {}

    rdma::CompletionQueue& completions() { return completions_; }
    Sessions& sessions() { return sessions_; }
    bool is_over() const { return is_over_; }

    /// Throws util::Error if the rank is still needed.
    void leave(const rdma_cm_id* id) {
        const auto rank = sessions_.leave(id);
        if (rank && !is_over_)
            throw util::Error(fmt::format("rank {} disconnected before the end.", *rank));
    }

    /// Runs from the first rank to the last barrier. Throws util::Error and std::system_error.
    void run() {
        log_.event("rank", {{"rank", 0}, {"ranks", job_.ranks}});
        const Self self{0, job_, memory_, flags_, log_};
        Member(self, {pd_->context, pd_.get(), completions_.cq.get(), gid_}, *this).run();
    }

    // 1. Waits until all records are in their slots, and sends the table.
    void exchange_records() override {
        auto& table = memory_.window.table;
        table[0] = memory_.desk.slot.record;
        await_all(generation::table, "to join");
        for (std::uint16_t rank = 0; rank < job_.ranks; ++rank) {
            if (rank != 0)
                table.at(rank) = sessions_.slot(rank).record;
            log_.event("record", Record::parse(table.at(rank), rank).describe(job_.ranks));
        }
        write_to_all(table, job_.ranks * Record::size, generation::table);
    }

    // 2. Waits until all ranks have entered, and sends the release. It sends a copy, because the
    // first rank to be released may write to its slot for the next barrier before the last one is
    // released.
    void exchange_entries(std::uint16_t generation, const std::string& what) override {
        auto& release = memory_.window.release;
        release[0] = memory_.desk.slot.entry;
        await_all(generation, "at barrier " + what);
        for (std::uint16_t rank = 1; rank < job_.ranks; ++rank)
            release.at(rank) = sessions_.slot(rank).entry;
        is_over_ = generation == generation::end_of(job_);
        write_to_all(release, job_.ranks * Entry::size, generation);
    }

    // 3. A rank is missing: sends the verdict to all ranks whose record has arrived. Ranks that do
    // not respond get two seconds.
    void give_up(std::string_view why) try {
        log_.error(why);
        is_over_ = true;
        flags_.forget_all();
        auto& verdict = memory_.window.verdict;
        verdict = {};
        std::ranges::copy(std::as_bytes(std::span(why.substr(0, verdict.size() - 1))),
                          verdict.begin());
        for (const std::uint16_t rank : sessions_.ranks()) {
            flags_.add(sessions_.qp(rank), rank, 0);
            if (flags_.is_raised(flag::of(rank, generation::table)))
                write(rank, verdict, sizeof(verdict), flag::failed);
        }
        flags_.await_sent(util::deadline_in(std::chrono::seconds(2)));
    } catch (const std::exception& error) {
        log_.note(error.what());
    }

  private:
    void await_all(std::uint16_t generation, const std::string& what) {
        std::map<std::uint32_t, std::uint16_t> flags;
        for (std::uint16_t rank = 1; rank < job_.ranks; ++rank)
            flags[flag::of(rank, generation)] = rank;
        flags_.await(flags, what);
    }

    template <typename T>
    void write_to_all(const T& part, std::size_t size, std::uint16_t generation) {
        for (const std::uint16_t rank : sessions_.ranks())
            write(rank, part, size, flag::of(0, generation));
        flags_.await_sent();
    }

    // All ranks' windows have the same layout.
    template <typename T>
    void write(std::uint16_t rank, const T& part, std::size_t size, std::uint32_t flag) {
        const Record to = Record::parse(sessions_.slot(rank).record, rank);
        flags_.raise(sessions_.qp(rank), sge_of(memory_.window_mr, part, size),
                     to.va + memory_.offset_of(part), to.rkey, flag);
    }

    runlog::Log& log_;
    Job job_;
    rdma::Gid gid_;
    rdma::Pd pd_;
    rdma::CompletionQueue completions_;
    Memory memory_;
    Flags flags_;
    Sessions sessions_;
    bool is_over_ = false;
};

}  // namespace lesson24
