// What all workers of step 16's server have in common: the weights, a slot for each worker's
// gradient, and the steps that they make.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "block.hpp"
#include "job.hpp"
#include "util/check.hpp"
#include "verbs/completion.hpp"
#include "verbs/describe.hpp"

namespace step16 {

/// Made for the first worker of a job, and gone with the last one. Throws util::Error or
/// std::system_error where a verb fails.
class Training {
  public:
    Training(ibv_context* context, const Job& job, runlog::Log& log)
        : log_(log),
          job_(job),
          pd_(util::check_ptr(ibv_alloc_pd(context), "ibv_alloc_pd")),
          completions_(context, 3 * job.workers),
          slots_(job.workers),
          has_pushed_(job.workers, false),
          weights_mr_(lend(std::as_writable_bytes(std::span(&block_, 1)), IBV_ACCESS_REMOTE_READ)) {
        for (Gradient& slot : slots_)
            slot_mrs_.push_back(lend(std::as_writable_bytes(std::span(&slot, 1)),
                                     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
    }

    const Job& job() const { return job_; }
    ibv_pd* pd() const { return pd_.get(); }
    verbs::CompletionQueue& completions() { return completions_; }
    bool is_over() const { return step_ > job_.steps; }

    /// What a worker may touch: its own slot, to write, and the weights, only to read.
    Place place_of(std::uint16_t rank) const {
        return {capability_of(*slot_mrs_[rank]), capability_of(*weights_mr_), rank};
    }

    /// All workers are there: the weights for step 1.
    void begin() {
        step_ = 1;
        block_writer_.begin();
        block_writer_.end();
    }

    /// A notice of that worker has come. Throws util::Error where it is not its turn.
    void take(std::uint16_t rank, std::uint32_t notice, std::uint32_t byte_len) {
        const std::uint16_t step = notice & 0xffff;
        if ((notice & Notice::go_on) != 0)
            return finish_update();
        if (step != step_ || has_pushed_.at(rank) || byte_len != sizeof(Gradient))
            throw util::Error(fmt::format("rank {} pushes {} B for step {}, in step {}.", rank,
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

    void give_up() { block_writer_.give_up(); }

  private:
    // All gradients of the step are there, and no worker writes its slot before it has seen the
    // weights that come of them.
    void update() {
        loss_ = loss_of(slots_);
        next_ = updated(block_.weights, slots_);
        block_writer_.begin();
        block_writer_.write(next_, 0, features / 2);
        if (!stops_halfway_)
            finish_update();
    }

    void finish_update() {
        if (is_resting(block_.version))
            throw util::Error("a worker says 'go on', and nothing was stopped.");
        block_writer_.write(next_, features / 2, features);
        has_pushed_.assign(job_.workers, false);
        stops_halfway_ = false;
        block_writer_.end();
        log_.event(
            "training",
            {{"step", step_}, {"loss", fmt::format("{:.6f}", loss_)}, {"version", block_.version}});
        if (++step_ > job_.steps)
            compare_with_one_process();
    }

    // The same sums in the same order, without any worker: what has gone over the wire must have
    // changed no bit.
    void compare_with_one_process() {
        const Data data;
        Weights weights{};
        for (std::uint16_t step = 0; step < job_.steps; ++step) {
            std::vector<Gradient> gradients;
            for (std::uint16_t rank = 0; rank < job_.workers; ++rank)
                gradients.push_back(data.gradient(weights, rank, job_.workers));
            weights = updated(weights, gradients);
        }
        if (weights != block_.weights)
            throw util::Error("the weights are not those that one process comes to.");
        log_.event("check",
                   {{"verdict", "good"},
                    {"what", fmt::format("{} weights after {} steps of {} workers are, bit "
                                         "for bit, those of one process",
                                         features, job_.steps, job_.workers)}});
    }

    verbs::Mr lend(std::span<std::byte> memory, int access) {
        verbs::Mr mr = verbs::register_memory(pd_.get(), memory, access);
        log_.event("mr", verbs::describe(*mr, access));
        return mr;
    }

    static cm::Capability capability_of(const ibv_mr& mr) {
        return {
            .va = reinterpret_cast<std::uintptr_t>(mr.addr), .length = mr.length, .rkey = mr.rkey};
    }

    runlog::Log& log_;
    Job job_;
    verbs::Pd pd_;
    verbs::CompletionQueue completions_;
    Block block_;
    BlockWriter block_writer_{block_};
    std::vector<Gradient> slots_;
    std::vector<bool> has_pushed_;
    verbs::Mr weights_mr_;
    std::vector<verbs::Mr> slot_mrs_;
    std::uint16_t step_ = 0;
    bool stops_halfway_ = false;
    Weights next_{};
    double loss_ = 0;
};

}  // namespace step16
