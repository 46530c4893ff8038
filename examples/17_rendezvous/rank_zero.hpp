// Rank 0: the others leave in its slots what all are to know, and it tells all once the last one
// has come.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "member.hpp"
#include "sessions.hpp"
#include "verbs/completion.hpp"

namespace step17 {

/// One rendezvous: made for the first rank that comes, and gone with the last one.
class RankZero : public Meeting {
  public:
    /// `next`: as in Inbox; it hands connections and their ends to admit() and leave().
    RankZero(ibv_context* context, const verbs::Gid& gid, const Job& job,
             std::chrono::seconds patience, Inbox::Next next, runlog::Log& log)
        : log_(log),
          job_(job),
          gid_(gid),
          pd_(util::check_ptr(ibv_alloc_pd(context), "ibv_alloc_pd")),
          completions_(context, 8 * most_ranks),
          memory_(pd_.get(), log),
          inbox_(0, patience, memory_.window.verdict, std::move(next), log),
          sessions_(job, patience, pd_.get(), completions_.cq.get(), inbox_, log) {}

    verbs::CompletionQueue& completions() { return completions_; }
    bool is_over() const { return is_over_; }
    bool is_empty() const { return sessions_.empty(); }

    /// Which rank it becomes. Throws util::Error, for the one that asks, where it can be none.
    std::uint16_t rank_for(const Request& request) const {
        if (is_over_)
            throw util::Error("a rendezvous is just ending. Try again.");
        return sessions_.rank_for(request);
    }
    void admit(cm::Id id, std::uint16_t rank) { sessions_.admit(std::move(id), rank); }
    /// Throws util::Error where that rank is still needed.
    void leave(const rdma_cm_id* id) {
        const auto rank = sessions_.leave(id);
        if (rank && !is_over_)
            throw util::Error(fmt::format("rank {} has gone before the end.", *rank));
    }

    /// From the first rank to the last barrier. Throws util::Error and std::system_error.
    void run() {
        log_.event("rank", {{"rank", 0}, {"ranks", job_.ranks}});
        const Self self{0, job_, memory_, inbox_, log_};
        Member(self, {pd_->context, pd_.get(), completions_.cq.get(), gid_}, *this).run();
    }

    /// Tells all who have said where; does not wait long for those who do not answer.
    void give_up(std::string_view why) {
        is_over_ = true;
        inbox_.forget_all();
        auto& verdict = memory_.window.verdict;
        verdict = {};
        std::ranges::copy(std::as_bytes(std::span(why.substr(0, verdict.size() - 1))),
                          verdict.begin());
        for (const std::uint16_t rank : sessions_.ranks()) {
            inbox_.add(sessions_.qp(rank), rank, 0);
            if (inbox_.has(notice::of(rank, generation::table)))
                write(rank, verdict, sizeof(verdict), notice::failed);
        }
        inbox_.await_sent(util::deadline_in(std::chrono::seconds(2)));
    }

    // 1. All records are in their slots: the table.
    void exchange_records() override {
        auto& table = memory_.window.table;
        table[0] = memory_.desk.slot.record;
        await_all(generation::table, "to come");
        for (std::uint16_t rank = 0; rank < job_.ranks; ++rank) {
            if (rank != 0)
                table.at(rank) = sessions_.slot(rank).record;
            tell(Record::parse(table.at(rank), rank));
        }
        write_to_all(table, job_.ranks * Record::size, generation::table);
    }

    // 2. All have entered: the release. What is sent is a copy: who is told first may enter the
    // next barrier, and write its slot, before the last one is told.
    void exchange_entries(std::uint16_t generation, const std::string& what) override {
        auto& release = memory_.window.release;
        release[0] = memory_.desk.slot.entry;
        await_all(generation, "at barrier " + what);
        for (std::uint16_t rank = 1; rank < job_.ranks; ++rank)
            release.at(rank) = sessions_.slot(rank).entry;
        is_over_ = generation == generation::end_of(job_);
        write_to_all(release, job_.ranks * Entry::size, generation);
    }

  private:
    void await_all(std::uint16_t generation, const std::string& what) {
        std::map<std::uint32_t, std::uint16_t> flags;
        for (std::uint16_t rank = 1; rank < job_.ranks; ++rank)
            flags[notice::of(rank, generation)] = rank;
        inbox_.await(flags, what);
    }

    template <typename T>
    void write_to_all(const T& part, std::size_t size, std::uint16_t generation) {
        for (const std::uint16_t rank : sessions_.ranks())
            write(rank, part, size, notice::of(0, generation));
        inbox_.await_sent();
    }

    // Each rank's window is like this one.
    template <typename T>
    void write(std::uint16_t rank, const T& part, std::size_t size, std::uint32_t notice) {
        sessions_.write(rank, memory_.of_window(part, size), memory_.offset_of(part), notice);
    }

    void tell(const Record& record) {
        verbs::Gid gid;
        std::ranges::copy(record.gid, reinterpret_cast<std::byte*>(gid.raw.raw));
        log_.event("record", {{"rank", record.rank},
                              {"host", record.host},
                              {"pid", record.pid},
                              {"gid", gid.text()},
                              {"va", record.va},
                              {"rkey", record.rkey},
                              {"out", text_of(record.out, rounds_of(job_.ranks))},
                              {"in", text_of(record.in, rounds_of(job_.ranks))}});
    }

    static std::string text_of(const Ends& ends, unsigned rounds) {
        std::string text;
        for (unsigned round = 0; round < rounds; ++round)
            text += fmt::format("{}{:#08x} {:#08x}", round == 0 ? "" : ", ", ends[round].qpn,
                                ends[round].psn);
        return text;
    }

    runlog::Log& log_;
    Job job_;
    verbs::Gid gid_;
    verbs::Pd pd_;
    verbs::CompletionQueue completions_;
    Memory memory_;
    Inbox inbox_;
    Sessions sessions_;
    bool is_over_ = false;
};

}  // namespace step17
