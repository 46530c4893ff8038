// Lesson 24: two kinds of barrier: central (through rank 0) and dissemination. Each rank gets all
// ranks' tickets, which prove that all ranks had entered when it left.
#pragma once

#include <chrono>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ring.hpp"

namespace lesson24 {

/// The exchange with rank 0 over connections that exist from the beginning. On rank 0, it waits for
/// the other ranks.
class RecordExchange {
  public:
    RecordExchange() = default;
    virtual ~RecordExchange() = default;
    RecordExchange(const RecordExchange&) = delete;
    RecordExchange& operator=(const RecordExchange&) = delete;
    RecordExchange(RecordExchange&&) = delete;
    RecordExchange& operator=(RecordExchange&&) = delete;

    /// Sends desk.slot's record to rank 0, and waits for all records in window.table.
    virtual void exchange_records() = 0;
    /// Sends desk.slot's entry to rank 0, and waits for all entries in window.release.
    virtual void exchange_entries(std::uint16_t generation, const std::string& what) = 0;
};

class Barriers {
  public:
    using Clock = std::chrono::steady_clock;

    Barriers(const Self& self, RecordExchange& exchange) : self_(self), exchange_(exchange) {}

    /// Barrier through rank 0, whose release contains all tickets. The last ticket did not exist
    /// before its rank entered.
    Clock::duration central(std::uint16_t generation, const std::string& what) {
        const auto entered = enter(generation, what);
        self_.memory.desk.slot.entry = ticket_.serialize();
        exchange_.exchange_entries(generation, what);
        return leave(self_.memory.window.release, what, entered);
    }

    /// In each round a rank passes on all the tickets that it knows: it knows two after one round,
    /// four after two, so log2(ranks) rounds are enough.
    Clock::duration dissemination(std::uint16_t number, Mesh& mesh,
                                  const std::vector<Record>& table) {
        const std::string what = fmt::format("dissemination {}", number);
        const std::uint16_t ranks = self_.job.ranks;
        const auto entered = enter(number, what);
        Sheet& known = self_.memory.desk.sheet;
        known = {};
        known.at(self_.rank) = ticket_.serialize();
        for (unsigned round = 0; round < rounds_of(ranks); ++round) {
            const std::uint16_t from = rank_before(self_.rank, round, ranks);
            const Record& to = table.at(rank_after(self_.rank, round, ranks));
            const Sheet& come = self_.memory.window.rounds[number % 2][round];
            self_.flags.raise(mesh.out(round),
                              sge_of(self_.memory.desk_mr, known, ranks * Entry::size),
                              to.va + self_.memory.offset_of(come), to.rkey,
                              flag::of_round(self_.rank, number, round));
            self_.flags.await({{flag::of_round(from, number, round), from}}, "at barrier " + what);
            self_.flags.await_sent();  // the sent data may change only now
            for (std::size_t rank = 0; rank < known.size(); ++rank)
                if (Entry::parse(come[rank]).barrier == number)
                    known[rank] = come[rank];
        }
        return leave(known, what, entered);
    }

  private:
    Clock::time_point enter(std::uint32_t barrier, const std::string& what) {
        ticket_ = {.barrier = barrier, .ticket = std::random_device{}()};
        self_.log.event("enter",
                        {{"rank", self_.rank}, {"barrier", what}, {"ticket", ticket_.ticket}});
        return Clock::now();
    }

    Clock::duration leave(const Sheet& sheet, const std::string& what, Clock::time_point entered) {
        const auto took = Clock::now() - entered;
        std::string tickets;
        std::set<std::uint16_t> missing;
        for (std::uint16_t rank = 0; rank < self_.job.ranks; ++rank) {
            const Entry entry = Entry::parse(sheet.at(rank));
            if (entry.barrier != ticket_.barrier)
                missing.insert(rank);
            tickets += fmt::format("{}{:#010x}", rank == 0 ? "" : " ", entry.ticket);
        }
        if (!missing.empty())
            throw util::Error(fmt::format("rank {} would leave barrier {} without {}.", self_.rank,
                                          what, names_of(missing)));
        self_.log.event(
            "leave",
            {{"rank", self_.rank},
             {"barrier", what},
             {"waited_us", std::chrono::duration_cast<std::chrono::microseconds>(took).count()},
             {"tickets", tickets}});
        return took;
    }

    const Self& self_;
    RecordExchange& exchange_;
    Entry ticket_;
};

}  // namespace lesson24
