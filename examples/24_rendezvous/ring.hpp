// Lesson 24: tests the ring with an all-reduce of numbers whose sums are known.
#pragma once

#include <chrono>
#include <vector>

#include <fmt/format.h>

#include "memory.hpp"
#include "mesh.hpp"
#include "runlog/log.hpp"

namespace lesson24 {

/// A rank and its resources.
struct Self {
    std::uint16_t rank;
    Job job;
    Memory& memory;
    Flags& flags;
    runlog::Log& log;
};

inline std::int64_t us_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() -
                                                                 begin)
        .count();
}

class Ring {
  public:
    Ring(const Self& self, Mesh& mesh, const std::vector<Record>& table)
        : self_(self),
          mesh_(mesh),
          ranks_(self.job.ranks),
          before_(rank_before(self.rank, 0, ranks_)),
          next_(table.at(rank_after(self.rank, 0, ranks_))),
          numbers_(ranks_ * numbers_of_chunk) {}

    /// Sums all ranks' numbers on each rank. The data received in one lesson is sent in the next one,
    /// in the first half with this rank's own numbers added.
    void all_reduce() {
        for (std::size_t i = 0; i < numbers_.size(); ++i)
            numbers_[i] = number_of(self_.rank, i);
        for (unsigned step = 0; step < steps_of(ranks_); ++step) {
            send(step);
            self_.flags.await({{flag::of_ring(before_, step), before_}}, "in the ring");
            take(step);
        }
        check();
    }

  private:
    void send(unsigned step) {
        const std::uint64_t* from = &numbers_[first_of(self_.rank, step)];
        Chunk& chunk = self_.memory.desk.chunk;
        for (std::size_t i = 0; i < numbers_of_chunk; ++i)
            util::put_be64<0>(std::span(chunk).subspan(8 * i).first<8>(), from[i]);
        const auto posted = std::chrono::steady_clock::now();
        self_.flags.raise(mesh_.out(0), sge_of(self_.memory.desk_mr, chunk),
                          next_.va + self_.memory.offset_of(self_.memory.window.ring_steps[step]),
                          next_.rkey, flag::of_ring(self_.rank, step));
        self_.flags.await_sent();
        if (step == 0)
            self_.log.event(
                "ring", {{"rank", self_.rank}, {"to", next_.rank}, {"took_us", us_since(posted)}});
    }

    void take(unsigned step) {
        const Chunk& come = self_.memory.window.ring_steps[step];
        std::uint64_t* to = &numbers_[first_of(before_, step)];
        for (std::size_t i = 0; i < numbers_of_chunk; ++i) {
            const auto number = util::be64<0>(std::span(come).subspan(8 * i).first<8>());
            to[i] = number + (is_growing(step, ranks_) ? to[i] : 0);
        }
    }

    void check() const {
        for (std::size_t i = 0; i < numbers_.size(); ++i)
            if (numbers_[i] != sum_of(ranks_, i))
                throw util::Error(fmt::format("rank {}: sum {} is {}, and should be {}.",
                                              self_.rank, i, numbers_[i], sum_of(ranks_, i)));
        self_.log.event("check",
                        {{"verdict", "good"},
                         {"what", fmt::format("rank {} has the {} sums of {} ranks' numbers",
                                              self_.rank, numbers_.size(), ranks_)}});
    }

    std::size_t first_of(std::uint16_t sender, unsigned step) const {
        return numbers_of_chunk * chunk_of(sender, step, ranks_);
    }

    const Self& self_;
    Mesh& mesh_;
    std::uint16_t ranks_, before_;
    const Record& next_;
    std::vector<std::uint64_t> numbers_;
};

}  // namespace lesson24
