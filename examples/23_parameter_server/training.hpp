// Lesson 23, the server: adds up the gradients of a step and writes the new weights, while workers
// may be reading them.
#pragma once

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "memory.hpp"
#include "runlog/log.hpp"
#include "util/error.hpp"

namespace lesson23 {

class Training {
  public:
    Training(const Job& job, Memory& memory, runlog::Log& log)
        : log_(log), job_(job), memory_(memory), has_pushed_(job.workers, false) {}

    const Job& job() const { return job_; }
    bool is_over() const { return step_ > job_.steps; }

    /// All workers have connected: publishes the weights of step 1.
    void begin() {
        step_ = 1;
        writer_.begin();
        writer_.end();
    }

    /// Handles a worker's immediate data. Throws util::Error if the worker is out of turn.
    void take(std::uint16_t rank, std::uint32_t notice, std::uint32_t byte_len) {
        if ((notice & Notice::go_on) != 0)
            return finish_update();
        const std::uint16_t step = notice & 0xffff;
        if (step != step_ || has_pushed_.at(rank) || byte_len != sizeof(Gradient))
            throw util::Error(fmt::format("rank {} pushed {} B for step {} during step {}.", rank,
                                          byte_len, step, step_));
        const bool stops = (notice & Notice::stop_halfway) != 0;
        runlog::Fields fields{{"rank", rank}, {"step", step}, {"byte_len", byte_len}};
        if (stops)
            fields.emplace_back("asks", "stop halfway through the update");
        log_.event("gradient", std::move(fields));
        has_pushed_[rank] = true;
        stops_halfway_ |= stops;
        if (std::ranges::find(has_pushed_, false) == has_pushed_.end())
            update();
    }

    void give_up() { writer_.give_up(); }

  private:
    // All gradients of the step have arrived. No worker writes to its slot again before it has read
    // the new weights.
    void update() {
        loss_ = loss_of(memory_.slots);
        next_ = updated(memory_.block.weights, memory_.slots);
        writer_.begin();
        writer_.write(next_, 0, features / 2);
        if (!stops_halfway_)
            finish_update();
    }

    void finish_update() {
        if (is_resting(memory_.block.version))
            throw util::Error("a worker sent 'go on', but the server was not stopped.");
        writer_.write(next_, features / 2, features);
        has_pushed_.assign(job_.workers, false);
        stops_halfway_ = false;
        writer_.end();
        log_.event("training", {{"step", step_},
                                {"loss", fmt::format("{:.6f}", loss_)},
                                {"version", memory_.block.version}});
        if (++step_ > job_.steps)
            compare_with_one_process();
    }

    // Computes the same sums in the same order without workers: the transfer must not have changed
    // a bit.
    void compare_with_one_process() {
        const Data data;
        Weights weights{};
        for (std::uint16_t step = 0; step < job_.steps; ++step) {
            std::vector<Gradient> gradients;
            for (std::uint16_t rank = 0; rank < job_.workers; ++rank)
                gradients.push_back(data.gradient(weights, rank, job_.workers));
            weights = updated(weights, gradients);
        }
        if (weights != memory_.block.weights)
            throw util::Error("the weights differ from those of a single process.");
        log_.event("check", {{"verdict", "good"},
                             {"what", fmt::format("{} weights after {} steps of {} workers equal, "
                                                  "bit for bit, those of a single process",
                                                  features, job_.steps, job_.workers)}});
    }

    runlog::Log& log_;
    Job job_;
    Memory& memory_;
    BlockWriter writer_{memory_.block};
    std::vector<bool> has_pushed_;  // by rank
    std::uint16_t step_ = 0;
    bool stops_halfway_ = false;
    Weights next_{};
    double loss_ = 0;
};

}  // namespace lesson23
