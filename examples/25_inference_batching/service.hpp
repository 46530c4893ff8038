// Lesson 25, the server's clients, and the queue of batches in the order of their notices, across
// clients.
#pragma once

#include <array>
#include <deque>
#include <map>

#include "answer.hpp"
#include "rdma/completion.hpp"
#include "rdma/names.hpp"

namespace lesson25 {

inline constexpr std::chrono::seconds silence_limit{10};

/// All clients share a completion queue, whose order is the order of the notices. A failure of one
/// client is logged and ends only its connection.
struct Service {
    struct Waiting {
        Session* session;
        std::uint32_t id, requests;
        Time since;
    };
    using Sessions = std::map<rdma_cm_id*, Session>;

    std::chrono::microseconds launch;
    bool is_quiet;
    runlog::Log& log;
    util::StopSignal& stop;
    Model model{};
    std::optional<rdma::CompletionQueue> completions{};  // while there are clients
    Sessions sessions{};
    std::deque<Waiting> queue{};
    std::uint64_t clients = 0;  // total number of clients
};

/// 1. Polls all available completions and queues their batches. Returns false if there were none.
bool take_completions(Service& service);

/// Removes a client's batches from the queue, and its completions, which could be taken for those
/// of a later queue pair with the same number.
inline void end(Service& service, Service::Sessions::iterator session) {
    std::erase_if(service.queue, [&](const auto& one) { return one.session == &session->second; });
    service.sessions.erase(session);
    take_completions(service);
    if (service.sessions.empty())
        service.completions.reset();
}

inline void give_up(Service& service, std::uint64_t client, const std::string& why) {
    service.log.error(fmt::format("client {}: {} Its connection ends.", client, why));
    end(service, std::ranges::find_if(service.sessions, [&](const auto& entry) {
            return entry.second.number == client;
        }));
}

inline void take(Service& service, Session& session, const ibv_wc& wc) {
    if (wc.status == IBV_WC_WR_FLUSH_ERR)
        return;  // the connection ended while the request was posted
    try {
        if (wc.status != IBV_WC_SUCCESS)
            throw util::Error(
                fmt::format("a result could not be written: {}.", rdma::name_of(wc.status)));
        if ((wc.opcode & IBV_WC_RECV) == 0)
            return sent(session, wc.wr_id);
        const std::uint32_t requests = take_notice(session, wc);
        service.queue.push_back({&session, ntohl(wc.imm_data), requests, util::Clock::now()});
    } catch (const std::exception& error) {
        give_up(service, session.number, error.what());
    }
}

inline bool take_completions(Service& service) {
    bool has_taken = false;
    while (service.completions) {
        const auto wc = service.completions->next(service.stop, util::Clock::now());
        if (!wc)
            break;
        has_taken = true;
        const auto session = std::ranges::find_if(
            service.sessions, [&](const auto& entry) { return entry.second.qpn() == wc->qp_num; });
        if (session != service.sessions.end())
            take(service, session->second, *wc);
    }
    return has_taken;
}

/// 2. Answers the oldest batch whose results would not overwrite others in flight. Returns false if
/// there is none.
inline bool answer_one(Service& service) {
    const auto first = std::ranges::find_if(service.queue, [](const Service::Waiting& one) {
        return !one.session->is_sending[one.session->greeting.shape.slot_of(one.id)];
    });
    if (first == service.queue.end())
        return false;
    const Service::Waiting batch = *first;
    service.queue.erase(first);
    const Time began = util::Clock::now();
    std::array<pollfd, 1> fds{{{service.stop.fd(), POLLIN, 0}}};
    const util::Deadline launched =
        began + service.launch;  // simulates an accelerator's launch time
    while (!util::is_past(launched) && !service.stop.requested())
        wait_for_any(fds, launched);
    try {
        answer(*batch.session, batch.id, batch.requests, service.model);
    } catch (const std::exception& error) {
        give_up(service, batch.session->number, error.what());
        return true;
    }
    if (!service.is_quiet)
        service.log.event("served", {{"client", batch.session->number},
                                     {"qpn", batch.session->qpn()},
                                     {"batch", batch.id},
                                     {"requests", batch.requests},
                                     {"waited_us", microseconds(began - batch.since)},
                                     {"took_us", microseconds(util::Clock::now() - began)},
                                     {"behind", service.queue.size()}});
    return true;
}

/// 3. Ends the connection of a client that acknowledges nothing, for example if its host or link is
/// down: Soft-RoCE retransmits without limit. Returns the next deadline.
inline util::Deadline end_silent(Service& service) {
    util::Deadline due;
    for (const auto& [id, session] : service.sessions) {
        if (session.since && util::is_past(*session.since + silence_limit)) {
            give_up(service, session.number,
                    fmt::format("it has acknowledged nothing for {} s.", silence_limit.count()));
            return util::Clock::now();  // check the next one
        }
        if (session.since)
            due = earlier(due, *session.since + silence_limit);
    }
    return due;
}

}  // namespace lesson25
