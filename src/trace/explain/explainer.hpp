// Puts the rules to work: from packets and log events to causes in the order of their probability.
#pragma once

#include <optional>

#include "trace/explain/cause.hpp"
#include "trace/explain/logs.hpp"
#include "trace/explain/traffic.hpp"

namespace explain {

class Explainer {
  public:
    explicit Explainer(const flow::Limits& limits = flow::Limits()) : traffic_(limits) {}

    /// All events of all logs come before the packets.
    void learn(const runlog::Event& event) { logs_.learn(event); }
    /// The address of a role's host.
    void place(const std::string& role, const flow::Host& host) { logs_.place(role, host); }
    void know(const flow::KnownQueuePair& pair) { traffic_.know(pair); }
    /// The host at which the capture was made.
    void captured_at(const flow::Host& host) { place_ = host; }
    /// `packet` was decoded with its ICRC. `frame`: number in the capture, from 1.
    void add(std::uint64_t frame, std::int64_t t_ns, const wire::Packet& packet,
             std::size_t wire_length) {
        has_capture_ = true;
        traffic_.add(frame, t_ns, packet, wire_length);
    }

    Explanation explanation();

  private:
    Logs logs_;
    Traffic traffic_;
    std::optional<flow::Host> place_;
    bool has_capture_ = false;
};

}  // namespace explain
