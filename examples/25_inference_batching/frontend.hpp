// Lesson 25, one client: receives requests, batches them and sends them to the server. It never
// blocks, so one thread can run many clients.
#pragma once

#include "batch.hpp"
#include "figures.hpp"
#include "requests.hpp"
#include "runlog/log.hpp"

namespace lesson25 {

/// Every call throws util::Error or std::system_error on failure.
class Frontend {
  public:
    /// `number`: of this client in the program, from 1. The references must outlive it.
    Frontend(const common::ClientOptions& options, const Terms& terms, const Work& work,
             std::uint64_t number, Figures& figures, runlog::Log& log, util::StopSignal& stop)
        : work_(work),
          number_(number),
          limit_(options.timeout),
          figures_(figures),
          log_(log),
          stop_(stop),
          batcher_(terms.shape.batch, work.wait),
          requests_(work, number),
          batches_(terms.shape.depth),
          connection_(options, terms, requests_.inputs, log, stop),
          connected_(util::Clock::now()) {}

    bool is_done() const { return done_ == work_.requests; }
    Connection& connection() { return connection_; }
    void check(const Model& model) const { requests_.check(model, number_); }

    /// Does all that is possible now. Returns false if there was nothing to do.
    bool advance() {
        bool has_worked = false;
        while (const auto notice = next_notice(connection_, stop_)) {
            take(*notice);
            has_worked = true;
        }
        const Time now = util::Clock::now();
        check_limit(now);
        if (!began_)
            return has_worked;
        while (arrived_ < work_.requests && *began_ + requests_.arrivals[arrived_] <= now)
            batcher_.arrive(*began_ + requests_.arrivals[arrived_++]);
        while (connection_.may_send() && batcher_.is_ready(now)) {
            send_batch();
            has_worked = true;
        }
        return has_worked;
    }

    /// Returns when there is something to do without input.
    util::Deadline due() const {
        util::Deadline due = limit_ends();
        if (began_ && arrived_ < work_.requests)
            due = earlier(due, *began_ + requests_.arrivals[arrived_]);
        if (began_ && connection_.may_send())
            due = earlier(due, batcher_.ready_at());
        return due;
    }

  private:
    struct Batch {
        std::size_t first = 0;  // request
        std::vector<Time> arrived;
        Time posted;
        bool is_waited_for = false;
    };

    void send_batch() {
        std::vector<Time> arrived = batcher_.take();
        const Time posted = util::Clock::now();
        const auto requests = static_cast<std::uint32_t>(arrived.size());
        const std::uint32_t id = send(connection_, sent_, requests);
        batches_[connection_.terms.shape.slot_of(id)] = {sent_, std::move(arrived), posted, true};
        sent_ += requests;
    }

    // A result frees its batch's slot.
    void take(std::uint32_t notice) {
        const Time now = util::Clock::now();
        if (notice == begin && !began_) {
            began_ = now;
            figures_.begin(now);
            return;
        }
        connection_.slots.free(notice);
        const Shape& shape = connection_.terms.shape;
        Batch& batch = batches_[shape.slot_of(notice)];
        const auto results =
            std::span(connection_.results).subspan(shape.output_at(notice), batch.arrived.size());
        std::ranges::copy(results,
                          requests_.outputs.begin() + static_cast<std::ptrdiff_t>(batch.first));
        batch.is_waited_for = false;
        done_ += batch.arrived.size();
        figures_.add(batch.arrived, batch.posted, now);
        if (!work_.is_quiet)
            log_.event("batch", {{"client", number_},
                                 {"batch", notice},
                                 {"slot", shape.slot_of(notice)},
                                 {"requests", batch.arrived.size()},
                                 {"took_us", microseconds(now - batch.posted)},
                                 {"oldest_us", microseconds(now - batch.arrived.front())}});
    }

    // Returns when to give up on a server that sends nothing but stays connected. Programs on other
    // hosts may be slow to start, so the limit before the start is longer.
    util::Deadline limit_ends() const {
        if (!began_)
            return connected_ + 6 * limit_;
        util::Deadline ends;
        for (const Batch& batch : batches_)
            if (batch.is_waited_for)
                ends = earlier(ends, batch.posted + limit_);
        return ends;
    }

    void check_limit(Time now) const {
        if (const util::Deadline ends = limit_ends(); !ends || now < *ends)
            return;
        const double seconds = std::chrono::duration<double>(limit_).count() * (began_ ? 1 : 6);
        if (!began_)
            throw util::Error(
                fmt::format("client {} has waited {:.1f} s for the server's start message: is one "
                            "of the {} clients missing?",
                            number_, seconds, connection_.terms.clients));
        throw util::Error(
            fmt::format("no result for client {} in {:.1f} s, with {} outstanding: the "
                        "server does not respond. Is it still running?",
                        number_, seconds, connection_.unanswered()));
    }

    Work work_;
    std::uint64_t number_;
    std::chrono::milliseconds limit_;
    Figures& figures_;
    runlog::Log& log_;
    util::StopSignal& stop_;
    Batcher batcher_;
    Requests requests_;
    std::vector<Batch> batches_;  // by slot
    Connection connection_;
    Time connected_;
    std::optional<Time> began_;
    std::size_t arrived_ = 0, sent_ = 0, done_ = 0;  // requests
};

}  // namespace lesson25
