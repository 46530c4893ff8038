// Connections that were not established, from the events that the programs received and the calls that they
// made: without the connection manager's messages.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "trace/explain/rejection.hpp"
#include "trace/explain/rules.hpp"

namespace explain {
namespace {

void rejected(const Listeners& listeners, const runlog::Event& event, Causes& causes) {
    // The status of a datagram service has other codes, up to 5.
    constexpr std::uint64_t first_reason = 6;
    const std::uint64_t status = event.number(key::cm_status.name).value_or(0);
    const auto reason = static_cast<std::uint16_t>(status < first_reason ? 0 : status);
    Cause& cause = add_fatal(
        causes, Code::CmRejected, Certainty::Likely,
        reason == 0 ? "the peer rejected the connection."
                    : fmt::format("the peer rejected the connection: {}.", rejection_text(reason)),
        event.role);
    cause.try_this = advice_after_rejection(reason);
    if (reason == consumer_reject)
        if (const auto listener = listeners.alone())
            listeners.add_refusal(listener->role, event.t_ns, listener->requests, cause);
    cause.add(evidence(event));
}

// rdma_connect was called, and no event reported the result.
void waiting(const Whole& whole, Causes& causes) {
    constexpr std::int64_t patience_ns = 1'000'000'000;
    const auto& notices = whole.logs.notices();
    for (const runlog::Event& call : notices) {
        if (!call.is_one_of({"cm_call", "begun"}) || call[key::call] != "rdma_connect" ||
            whole.logs.end_of(call.role) - call.t_ns < patience_ns)
            continue;
        const bool has_ended = std::ranges::any_of(notices, [&](const runlog::Event& event) {
            return event.is("cm_event") && event.role == call.role &&
                   event[key::id] == call[key::id] && event.t_ns > call.t_ns;
        });
        const auto qpn = call[key::qpn];
        const auto pairs = whole.logs.find(call.role, static_cast<std::uint32_t>(qpn.value_or(0)));
        const bool is_connected =
            std::ranges::any_of(pairs, [](const auto* pair) { return pair->ready_ns.has_value(); });
        if (has_ended || is_connected)
            continue;
        Cause& cause = add_fatal(
            causes, Code::CmNoAnswer, Certainty::Likely,
            fmt::format(
                "the program called rdma_connect, and no event followed for {:.1f} s: there is "
                "no response to the ConnectRequest.",
                static_cast<double>(whole.logs.end_of(call.role) - call.t_ns) / 1e9),
            call.role);
        cause.add(evidence(call));
        if (whole.has_capture && whole.traffic.cm().empty())
            cause.add(value(call.role, "the capture has no ConnectRequest"));
    }
}

// Of a connection that was established, only the DisconnectRequest can be without response.
std::string no_answer(const Whole& whole, const runlog::Event& unreachable) {
    const bool was_established =
        std::ranges::any_of(whole.logs.notices(), [&](const runlog::Event& event) {
            return event.is("cm_event") && event[key::cm_type] == "ESTABLISHED" &&
                   event.role == unreachable.role && event[key::id] == unreachable[key::id] &&
                   event.t_ns < unreachable.t_ns;
        });
    return was_established ? "the peer did not respond to the DisconnectRequest."
                           : "the peer did not respond to the ConnectRequest.";
}

}  // namespace

void explain_connection_events(const Whole& whole, const Listeners& listeners, Causes& causes) {
    if (const runlog::Event* event = whole.logs.cm_event("UNREACHABLE"))
        add_fatal(causes, Code::CmNoAnswer, Certainty::Likely, no_answer(whole, *event),
                  event->role)
            .add(evidence(*event));
    if (const runlog::Event* event = whole.logs.cm_event("ADDR_ERROR"))
        add_fatal(
            causes, Code::WrongGid, Certainty::Likely,
            "the address could not be resolved: no host has it, or no RDMA device leads to it.",
            event->role)
            .add(evidence(*event));
    if (const runlog::Event* event = whole.logs.cm_event("REJECTED"))
        rejected(listeners, *event, causes);
    if (causes.empty())
        waiting(whole, causes);
}

}  // namespace explain
