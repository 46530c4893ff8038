// Lesson 08, hardened, the server: the state of a client, and its log events.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "examples/08_secure_multi_client/resources.hpp"
#include "statistics.hpp"

namespace lesson08 {

/// States after the TLS handshake. Each state waits for one thing and has a deadline.
enum class State : std::uint8_t {
    Exchange,    // the client's endpoint
    Connecting,  // this side's queue pair in RTS
    Ready,       // the client's queue pair in RTR
    Serving,     // the client's SENDs, until it is done
    Draining,    // the completions of all receives
};

struct ServedClient {
    /// With more clients, only errors are logged.
    static constexpr std::uint64_t most_in_log = 10;

    Id id = 0;
    std::uint64_t number = 0;  // from 1
    util::Address peer;
    State state = State::Exchange;
    bool is_connected = false;
    bool is_lost = false;  // disconnected before it was done
    std::unique_ptr<PrivateSet> set;
    std::uint32_t dest_qpn = 0;
    Traffic sends;
    PhaseTimes times;
    Stopwatch watch;

    bool is_in_log() const { return number <= most_in_log; }

    /// Returns the fields of a "client" event.
    runlog::Fields describe(std::string_view what) const {
        runlog::Fields fields{{"client", number}, {"peer", peer.text()}, {"state", what}};
        if (set) {
            fields.emplace_back("qpn", set->mine.qpn);
            fields.emplace_back("dest_qpn", dest_qpn);
            fields.emplace_back("sq_psn", set->mine.psn);
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

}  // namespace lesson08
