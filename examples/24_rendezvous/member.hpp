// Lesson 24: what every rank does, including rank 0: gets the table, connects accordingly, tests the
// ring, and enters barriers of both kinds.
#pragma once

#include <array>
#include <libdeflate.h>
#include <numeric>
#include <span>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "barriers.hpp"

namespace lesson24 {

class Member {
  public:
    Member(const Self& self, const Port& port, RecordExchange& exchange)
        : self_(self),
          exchange_(exchange),
          barriers_(self_, exchange),
          mesh_(self.rank, self.job.ranks, port, self.flags, self.log) {}
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;
    Member(Member&&) = delete;
    Member& operator=(Member&&) = delete;
    ~Member() = default;

    /// Throws util::Error and std::system_error.
    void run() {
        get_table();
        be_late("before its queue pairs can receive");
        mesh_.connect(table_);
        // Packets that arrive before RTR are dropped. This rank's queue pairs are in RTS, but the
        // next rank's may not be in RTR: all ranks must confirm.
        if (!self_.job.no_barrier)
            barriers_.central(generation::ready, "ready");
        Ring(self_, mesh_, table_).all_reduce();
        measure("central", [&](std::uint16_t number) {
            return barriers_.central(generation::of_barrier(number),
                                     fmt::format("central {}", number));
        });
        measure("dissemination", [&](std::uint16_t number) {
            return barriers_.dissemination(number, mesh_, table_);
        });
        // No memory or queue pair may be destroyed while packets to it may be in flight.
        barriers_.central(generation::end_of(self_.job), "end");
    }

  private:
    // 1. Send the record, receive the table.
    void get_table() {
        Record mine{.rank = self_.rank,
                    .pid = static_cast<std::uint32_t>(getpid()),
                    .va = reinterpret_cast<std::uintptr_t>(&self_.memory.window),
                    .rkey = self_.memory.window_mr->rkey};
        std::array<char, 256> host{};
        CHECK_ERRNO(gethostname(host.data(), host.size() - 1));
        mine.host = host.data();
        mesh_.describe(mine);
        self_.memory.desk.slot.record = mine.serialize();
        exchange_.exchange_records();
        const auto& table = self_.memory.window.table;
        for (std::uint16_t rank = 0; rank < self_.job.ranks; ++rank)
            table_.push_back(Record::parse(table.at(rank), rank));
        const std::uint32_t sum = libdeflate_crc32(0, table.data(), self_.job.ranks * Record::size);
        self_.log.event("table",
                        {{"rank", self_.rank}, {"ranks", self_.job.ranks}, {"crc32", sum}});
    }

    void be_late(const std::string& where) {
        if (self_.rank != self_.job.late)
            return;
        self_.log.event("late",
                        {{"rank", self_.rank}, {"late_ms", lateness.count()}, {"where", where}});
        std::this_thread::sleep_for(lateness);
    }

    // 2. The first barrier of each kind includes the late rank; the mean is over the others.
    template <typename Barrier>
    void measure(const std::string& kind, Barrier barrier) {
        std::chrono::steady_clock::duration all{};
        for (std::uint16_t number = 1; number <= self_.job.barriers; ++number) {
            if (number == 1)
                be_late("for barrier " + kind + " 1");
            const auto took = barrier(number);
            all += number == 1 ? all.zero() : took;
        }
        if (const std::int64_t measured = self_.job.barriers - 1; measured > 0)
            self_.log.event(
                "barriers",
                {{"rank", self_.rank},
                 {"kind", kind},
                 {"barriers", measured},
                 {"mean_us",
                  std::chrono::duration_cast<std::chrono::microseconds>(all).count() / measured}});
    }

    static constexpr std::chrono::milliseconds lateness{300};

    Self self_;
    RecordExchange& exchange_;
    Barriers barriers_;
    Mesh mesh_;
    std::vector<Record> table_;
};

}  // namespace lesson24
