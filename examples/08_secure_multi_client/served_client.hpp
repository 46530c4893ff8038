// One client of step 08's server: where it is, what it has, and how it is written down.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "private_set.hpp"
#include "service/statistics.hpp"
#include "verbs/describe.hpp"

namespace step08 {

/// Of so many clients, the first ones, every event is in the log; of the others, what goes wrong.
inline constexpr std::uint64_t in_full = 10;

/// Once TLS has let it in. Each state has what it waits for, and a deadline.
enum class State : std::uint8_t {
    Exchange,    // its endpoint
    Connecting,  // until its queue pair is connected
    Ready,       // that it can receive
    Serving,     // its SENDs, until it is done
    Draining,    // until its queue pair has given back every receive
};

struct ServedClient {
    service::Id id = 0;
    std::uint64_t number = 0;  // from 1
    util::Address peer;
    State state = State::Exchange;
    bool is_connected = false;
    bool is_lost = false;  // without a goodbye
    std::unique_ptr<PrivateSet> set;
    std::uint32_t dest_qpn = 0;
    std::uint32_t psn = 0;
    service::Traffic sends;
    service::PhaseTimes times{};
    service::Stopwatch watch;

    bool is_in_full() const { return number <= in_full; }

    /// What has passed since the last call belongs to `phase`.
    void time(service::Phase phase) { times[static_cast<std::size_t>(phase)] += watch.lap(); }

    /// The events of its set, once that is connected.
    void write_set(runlog::Log& log, const exchange::Endpoint& theirs,
                   const exchange::Endpoint& mine) const {
        log.event("mr", verbs::describe(*set->memory_mr, access_rights));
        log.event("qp", verbs::describe(*set->qp, PrivateSet::cap));
        log.event("psn", {{"qpn", mine.qpn}, {"psn", mine.psn}, {"source", "RAND_bytes"}});
        log.event("exchange", exchange::describe(theirs, "received", "TLS 1.3"));
        log.event("exchange", exchange::describe(mine, "sent", "TLS 1.3"));
        log.event("qp_state", verbs::query_state(set->qp.get()));
    }

    /// A "client" event.
    runlog::Fields describe(std::string_view what) const {
        runlog::Fields fields{{"client", number}, {"peer", peer.text()}, {"state", what}};
        if (set) {
            fields.emplace_back("qpn", set->qp->qp_num);
            fields.emplace_back("dest_qpn", dest_qpn);
            fields.emplace_back("sq_psn", psn);
        }
        fields.emplace_back("sends", sends.operations);
        fields.emplace_back("send_bytes", sends.bytes);
        return fields;
    }
    runlog::Fields describe() const {
        constexpr std::array<std::string_view, 5> names{"exchange", "connecting", "ready",
                                                        "serving", "draining"};
        return describe(names[static_cast<std::size_t>(state)]);
    }
};

}  // namespace step08
