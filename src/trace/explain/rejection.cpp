#include "trace/explain/rejection.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "wire/cm.hpp"

namespace explain {

using runlog::Event;
namespace key = runlog::key;

std::string rejection_text(std::uint16_t reason) {
    constexpr std::uint16_t invalid_service = 8;
    std::string text(wire::CmRej{.reason = reason}.reason_name());
    if (reason == invalid_service)
        text += " (no program listens on this port)";
    if (reason == consumer_reject)
        text += " (the program refused it)";
    return text;
}

// IBTA volume 1, 12.6.7.2.
std::string advice_after_rejection(std::uint16_t reason) {
    switch (reason) {
        case 8:
            return "Start the server, and compare its port and port space (RDMA_PS_TCP) with "
                   "those of rdma_connect.";
        case 10:
            return "The responder still has a connection of this queue pair: destroy the old "
                   "one, or wait for its timewait to end.";
        case consumer_reject:
            return "Look at the responder's log for the reason: it called rdma_reject, or its "
                   "rdma_accept failed. The private data of the REJ may say why.";
        default:
            return {};
    }
}

Listeners::Listeners(const Logs& logs) : logs_(logs) {
    for (const Event& event : logs.notices())
        learn(programs_[event.role], event);
    for (auto& [role, program] : programs_)
        std::ranges::sort(program.taken);
}

void Listeners::learn(Program& program, const Event& event) {
    const std::string_view call = event[key::call];
    const std::uint64_t id = event[key::id].value_or(0);
    if (event.is("cm_event")) {
        if (event[key::cm_type] == "CONNECT_REQUEST") {
            program.taken.push_back(event.t_ns);
            program.open.insert(id);
        }
    } else if (event.is("failed")) {
        if (call == "rdma_accept") {
            program.accept_failed = &event;
            program.open.erase(id);
        }
    } else if (event.is("cm_call")) {
        if (call == "rdma_listen")
            program.listens = &event;
        else if (call == "rdma_connect")
            ++program.connects;
        else if (call == "rdma_reject")
            program.rejects = &event;
        else if (call == "rdma_destroy_id" && program.open.contains(id))
            program.destroys = &event;
        program.open.erase(id);
    }
}

std::optional<Listeners::Refusal> Listeners::refusal_by(const std::string& role, std::int64_t t_ns,
                                                        std::size_t requests) const {
    constexpr std::int64_t soon_ns = 1'000'000'000;  // clocks of two hosts
    const auto found = programs_.find(role);
    if (found == programs_.end() || found->second.listens == nullptr || !logs_.is_whole(role))
        return std::nullopt;
    const Program& program = found->second;
    if (program.accept_failed != nullptr)
        return Refusal{
            fmt::format(" Its rdma_accept failed ({}).", (*program.accept_failed)[key::error]),
            program.accept_failed,
            "Correct the arguments of rdma_accept, or call rdma_reject with a reason."};
    if (program.rejects != nullptr)
        return Refusal{" It called rdma_reject.", program.rejects, ""};
    if (program.destroys != nullptr)
        return Refusal{" It destroyed the ID of a request that it had not accepted.",
                       program.destroys,
                       "Call rdma_accept, or rdma_reject with a reason in its private data."};
    if (requests <= program.taken.size() || logs_.end_of(role) - t_ns >= soon_ns)
        return std::nullopt;
    return Refusal{fmt::format(" Its program took {} of {} requests before it ended: the kernel "
                               "rejected the others.",
                               program.taken.size(), requests),
                   program.listens,
                   "Take events from the channel (rdma_get_cm_event) until the last request is "
                   "accepted or rejected."};
}

void Listeners::add_refusal(const std::string& role, std::int64_t t_ns, std::size_t requests,
                            Cause& cause) const {
    const auto refusal = refusal_by(role, t_ns, requests);
    if (!refusal)
        return;
    cause.text += refusal->text;
    cause.add(evidence(*refusal->event));
    if (!refusal->advice.empty())
        cause.try_this = refusal->advice;
}

const Event* Listeners::full_backlog(const std::string& role, std::int64_t t_ns,
                                     std::size_t requests_before) const {
    const auto found = programs_.find(role);
    if (found == programs_.end() || found->second.listens == nullptr)
        return nullptr;
    const Program& program = found->second;
    const auto backlog = (*program.listens)[key::backlog];
    const auto taken = std::ranges::upper_bound(program.taken, t_ns) - program.taken.begin();
    return backlog && requests_before >= static_cast<std::size_t>(taken) + *backlog
               ? program.listens
               : nullptr;
}

std::optional<Listeners::Alone> Listeners::alone() const {
    std::optional<Alone> one;
    std::size_t connects = 0;
    for (const auto& [role, program] : programs_) {
        if (program.listens == nullptr) {
            connects += program.connects;
            continue;
        }
        if (one)
            return std::nullopt;
        one = Alone{role, 0};
    }
    if (one)
        one->requests = connects;
    return one;
}

}  // namespace explain
