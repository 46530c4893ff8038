// Step 18's server without its connecting: the clients that are there, and the batches that wait.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>

#include "session.hpp"
#include "verbs/names.hpp"
#include "waiting.hpp"

namespace step18 {

/// One completion queue for all clients: the order of its entries is the order in which notices
/// came. What goes wrong with a client is logged, and ends its connection alone.
class Service {
  public:
    Service(std::chrono::microseconds launch, runlog::Log& log, util::StopSignal& stop)
        : launch_(launch), log_(log), stop_(stop), recorder_(log) {}

    Recorder& recorder() { return recorder_; }
    int completions_fd() const { return completions_ ? completions_->channel->fd : -1; }

    /// 1. A client. Throws util::Error or std::system_error where it cannot be served.
    void accept(cm::Id id, const Greeting& greeting) {
        if (sessions_.size() == most_clients)
            throw util::Error("one more client: there are as many as this server serves.");
        if (!completions_)
            completions_.emplace(id->verbs, static_cast<int>(entries));
        if (completions_->cq->context != id->verbs)
            throw util::Error("a client comes over another device than those who are here.");
        rdma_cm_id* key = id.get();
        auto session = std::make_unique<Session>(std::move(id), greeting, ++numbers_,
                                                 completions_->cq.get(), recorder_, log_);
        session->accept();
        sessions_.emplace(key, std::move(session));
    }

    /// It may be told to begin: when all clients of its run are there.
    void established(rdma_cm_id* id) {
        const auto found = sessions_.find(id);
        if (found == sessions_.end())
            return;
        found->second->established();
        const std::uint16_t clients = found->second->clients();
        std::vector<Session*> there;
        for (const auto& [key, session] : sessions_)
            if (session->is_waiting() && session->clients() == clients)
                there.push_back(session.get());
        if (there.size() < clients)
            return;
        for (Session* session : there)
            session->begin_run();
    }

    /// What it sent while a batch was computed counts as well.
    void leave(rdma_cm_id* id) {
        take_completions();
        recorder_.write();
        const auto session = sessions_.find(id);
        if (session == sessions_.end())
            return;
        if (const auto left = session->second->unanswered(); left > 0)
            log_.error(fmt::format("client {} has gone with {} batch{} unanswered.",
                                   session->second->number(), left, left == 1 ? "" : "es"));
        end(session);
    }

    /// 2. All completions that are there: batches in their slots stand in the queue from here on.
    /// False where there were none.
    bool take_completions() {
        bool has_taken = false;
        while (completions_) {
            const auto wc = completions_->next(stop_, util::Clock::now());
            if (!wc)
                break;
            has_taken = true;
            const auto session = std::ranges::find_if(
                sessions_, [&](const auto& entry) { return entry.second->qpn() == wc->qp_num; });
            if (session != sessions_.end())
                take(session, *wc);
        }
        return has_taken;
    }

    /// 3. Answers the batch that has waited for longest, whoever sent it; but not one whose results
    /// would overwrite some that are still on their way. False where there is none.
    bool answer_one(const Model& model) {
        const auto first = std::ranges::find_if(
            queue_, [](const Waiting& one) { return one.session->may_answer(one.id); });
        if (first == queue_.end())
            return false;
        const Waiting batch = *first;
        queue_.erase(first);
        const Time began = util::Clock::now();
        launch();
        try {
            batch.session->answer(batch.id, batch.requests, model);
        } catch (const std::exception& error) {
            give_up(find(batch.session), error.what());
            return true;
        }
        if (!batch.session->is_quiet())
            recorder_.event("served", {{"client", batch.session->number()},
                                       {"qpn", batch.session->qpn()},
                                       {"batch", batch.id},
                                       {"requests", batch.requests},
                                       {"waited_us", microseconds(began - batch.since)},
                                       {"took_us", microseconds(util::Clock::now() - began)},
                                       {"behind", queue_.size()}});
        return true;
    }

    /// 4. A client whose machine or cable has gone says nothing at all.
    void end_silent() {
        const auto silent = std::ranges::find_if(sessions_, [](const auto& entry) {
            const auto since = entry.second->sending_since();
            return since && util::Clock::now() >= *since + patience;
        });
        if (silent != sessions_.end())
            give_up(silent, fmt::format("it has acknowledged nothing for {} s.", patience.count()));
    }
    /// When there may be one.
    util::Deadline due() const {
        util::Deadline due;
        for (const auto& [id, session] : sessions_)
            if (const auto since = session->sending_since())
                due = earlier(due, *since + patience);
        return due;
    }

  private:
    struct Waiting {
        Session* session;
        std::uint32_t id;
        std::uint32_t requests;
        Time since;
    };
    using Sessions = std::map<rdma_cm_id*, std::unique_ptr<Session>>;

    void take(Sessions::iterator session, const ibv_wc& wc) {
        Session& client = *session->second;
        if (!client.is_quiet() || wc.status != IBV_WC_SUCCESS)
            recorder_.completed(wc);
        if (wc.status == IBV_WC_WR_FLUSH_ERR)
            return;  // what was posted when the connection ended
        if (wc.status != IBV_WC_SUCCESS)
            return give_up(session, fmt::format("a result could not be written: {}.",
                                                verbs::name_of(wc.status)));
        if ((wc.opcode & IBV_WC_RECV) == 0)
            return client.sent(wc.wr_id);
        try {
            const std::uint32_t id = ntohl(wc.imm_data);
            const std::uint32_t requests = client.take_notice(id, wc.byte_len);
            queue_.push_back({&client, id, requests, util::Clock::now()});
        } catch (const std::exception& error) {
            give_up(session, error.what());
        }
    }

    // What an accelerator takes for a batch however small it is, slept through.
    void launch() {
        const util::Deadline end = util::Clock::now() + launch_;
        std::array<pollfd, 1> fds{{{stop_.fd(), POLLIN, 0}}};
        while (launch_.count() > 0 && !util::is_past(end) && !stop_.requested())
            wait_for_any(fds, end);
    }

    Sessions::iterator find(const Session* session) {
        return std::ranges::find_if(
            sessions_, [&](const auto& entry) { return entry.second.get() == session; });
    }

    void give_up(Sessions::iterator session, const std::string& why) {
        recorder_.write();
        log_.error(
            fmt::format("client {}: {} Its connection ends.", session->second->number(), why));
        end(session);
    }

    // Nothing of it stays: not in the queue, and no completion that a later queue pair of the same
    // number could be given.
    void end(Sessions::iterator session) {
        recorder_.write();
        std::erase_if(queue_,
                      [&](const Waiting& one) { return one.session == session->second.get(); });
        sessions_.erase(session);
        take_completions();
        if (sessions_.empty()) {
            recorder_.write();
            completions_.reset();
        }
    }

    static constexpr std::chrono::seconds patience{10};
    static constexpr std::size_t most_clients = 64;
    static constexpr std::size_t entries =
        most_clients * (Session::max_sends({1, most_depth}) + most_depth);

    std::chrono::microseconds launch_;
    runlog::Log& log_;
    util::StopSignal& stop_;
    Recorder recorder_;
    std::optional<verbs::CompletionQueue> completions_;
    Sessions sessions_;
    std::deque<Waiting> queue_;
    std::uint64_t numbers_ = 0;
};

}  // namespace step18
