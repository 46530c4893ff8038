// One of step 18's clients: requests come to it, it makes batches of them and has the server answer
// them. Nothing here blocks: one thread can have many.
#pragma once

#include <memory>

#include "batcher.hpp"
#include "connection.hpp"
#include "figures.hpp"

namespace step18 {

/// What comes to each client, and how long a request may wait for others.
struct Work {
    std::size_t requests = 0;
    double rate = 0;  // a second; 0: all are there at the beginning
    bool is_even = false;
    nanoseconds wait{};
};

/// Every call that fails throws util::Error or std::system_error.
class Frontend {
  public:
    /// `number`: of this client in the program, from 1.
    Frontend(const common::ClientOptions& options, const Terms& terms, const Work& work,
             std::uint64_t number, Figures& figures, Recorder& recorder, runlog::Log& log,
             util::StopSignal& stop)
        : terms_(terms),
          work_(work),
          number_(number),
          timeout_(options.timeout),
          figures_(figures),
          recorder_(recorder),
          arrivals_(arrivals(work.requests, work.rate, work.is_even, number)),
          batcher_(terms.shape.batch, work.wait),
          inputs_(made_inputs(work.requests, number)),
          outputs_(work.requests),
          batches_(terms.shape.depth),
          connection_(options, terms, inputs_, recorder, log, stop),
          connected_(util::Clock::now()) {}

    bool is_done() const { return done_ == work_.requests; }
    Connection& connection() { return connection_; }

    /// Whatever can be done now; false where that was nothing.
    bool advance() {
        bool has_worked = false;
        while (const auto notice = connection_.next_notice()) {
            take(*notice);
            has_worked = true;
        }
        const Time now = util::Clock::now();
        check_patience(now);
        if (!began_)
            return has_worked;
        while (arrived_ < work_.requests && *began_ + arrivals_[arrived_] <= now)
            batcher_.arrive(*began_ + arrivals_[arrived_++]);
        while (connection_.may_send() && batcher_.is_ready(now)) {
            send();
            has_worked = true;
        }
        return has_worked;
    }

    /// When there is something to do although nothing comes in.
    util::Deadline due() const {
        util::Deadline due = patience_ends();
        if (began_ && arrived_ < work_.requests)
            due = earlier(due, *began_ + arrivals_[arrived_]);
        if (began_ && connection_.may_send())
            due = earlier(due, batcher_.ready_at());
        return due;
    }

    /// Throws util::Error unless every result is that of this program's own model. Each request
    /// goes alone through that one.
    void check(const Model& model) const {
        for (std::size_t i = 0; i < work_.requests; ++i) {
            Output wanted{};
            model.infer(std::span(inputs_).subspan(i, 1), std::span(&wanted, 1));
            if (outputs_[i] != wanted)
                throw util::Error(fmt::format(
                    "the result of request {} of client {} is not that of the model.", i, number_));
        }
    }

  private:
    struct Batch {
        std::size_t first = 0;  // request
        std::vector<Time> arrived;
        Time posted;
        bool is_waited_for = false;
    };

    static std::vector<Input> made_inputs(std::size_t requests, std::uint64_t seed) {
        Numbers numbers(seed);
        std::vector<Input> inputs(requests);
        for (Input& input : inputs)
            numbers.fill(input);
        return inputs;
    }

    void send() {
        std::vector<Time> arrived = batcher_.take();
        const Time posted = util::Clock::now();
        const auto requests = static_cast<std::uint32_t>(arrived.size());
        const std::uint32_t id = connection_.send(sent_, requests);
        batches_[terms_.shape.slot_of(id)] = {sent_, std::move(arrived), posted, true};
        sent_ += requests;
    }

    void take(std::uint32_t notice) {
        const Time now = util::Clock::now();
        if (notice == begin && !began_) {
            began_ = now;
            figures_.begin(now);
            return;
        }
        connection_.free(notice);
        const std::size_t slot = terms_.shape.slot_of(notice);
        Batch& batch = batches_[slot];
        std::ranges::copy(connection_.outputs_of(notice).first(batch.arrived.size()),
                          outputs_.begin() + static_cast<std::ptrdiff_t>(batch.first));
        batch.is_waited_for = false;
        done_ += batch.arrived.size();
        figures_.add(batch.arrived, batch.posted, now);
        if (!terms_.is_quiet)
            recorder_.event("batch", {{"client", number_},
                                      {"batch", notice},
                                      {"slot", slot},
                                      {"requests", batch.arrived.size()},
                                      {"took_us", microseconds(now - batch.posted)},
                                      {"oldest_us", microseconds(now - batch.arrived.front())}});
    }

    // A server that says nothing, and does not end the connection either.
    util::Deadline patience_ends() const {
        if (!began_)
            return connected_ + patience_for_others();
        util::Deadline ends;
        for (const Batch& batch : batches_)
            if (batch.is_waited_for)
                ends = earlier(ends, batch.posted + timeout_);
        return ends;
    }

    void check_patience(Time now) const {
        const util::Deadline ends = patience_ends();
        if (!ends || now < *ends)
            return;
        if (!began_)
            throw util::Error(fmt::format(
                "client {} has waited {:.1f} s for the server's word to begin: is one of "
                "the {} clients missing?",
                number_, seconds(patience_for_others()), terms_.clients));
        throw util::Error(fmt::format(
            "no result for client {} in {:.1f} s, with {} unanswered: the server does not answer. "
            "Is it still running?",
            number_, seconds(timeout_), connection_.unanswered_text()));
    }

    // Programs on other machines may be slow to start.
    std::chrono::milliseconds patience_for_others() const { return 6 * timeout_; }
    static double seconds(std::chrono::milliseconds time) {
        return std::chrono::duration<double>(time).count();
    }

    Terms terms_;
    Work work_;
    std::uint64_t number_;
    std::chrono::milliseconds timeout_;
    Figures& figures_;
    Recorder& recorder_;
    std::vector<nanoseconds> arrivals_;
    Batcher batcher_;
    std::vector<Input> inputs_;
    std::vector<Output> outputs_;
    std::vector<Batch> batches_;  // by slot
    Connection connection_;
    Time connected_;
    std::optional<Time> began_;
    std::size_t arrived_ = 0, sent_ = 0, done_ = 0;  // requests
};

}  // namespace step18
