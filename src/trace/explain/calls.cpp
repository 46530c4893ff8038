// Calls that failed, and what their errors mean.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "trace/explain/failed_call.hpp"
#include "trace/explain/rules.hpp"

namespace explain {
namespace {

// Programs try out other calls to see what a device can do.
constexpr auto needed = std::to_array<std::string_view>(
    {"ibv_alloc_pd",       "ibv_reg_mr",       "ibv_create_cq",   "ibv_create_cq_ex",
     "ibv_create_qp",      "ibv_create_qp_ex", "ibv_create_srq",  "ibv_create_ah",
     "ibv_modify_qp",      "ibv_post_send",    "ibv_wr_complete", "ibv_post_recv",
     "ibv_post_srq_recv",  "rdma_bind_addr",   "rdma_listen",     "rdma_resolve_addr",
     "rdma_resolve_route", "rdma_create_qp",   "rdma_connect",    "rdma_accept"});

// ibv_reg_mr(3) is a macro, which may call one of its other forms.
std::string_view name_of(const runlog::Event& failed) {
    const std::string_view call = failed[key::call];
    return call.starts_with("ibv_reg_mr_iova") ? "ibv_reg_mr" : call;
}

struct Meaning {
    std::string_view call;
    std::string_view error;
    std::string_view text;
};

// As the kernel and libibverbs return them.
constexpr auto meanings = std::to_array<Meaning>({
    {"ibv_reg_mr", "ENOMEM",
     "more memory than the process may lock (ulimit -l), or too many regions"},
    {"ibv_reg_mr", "EFAULT", "a part of the memory is not mapped, or may not be written"},
    {"ibv_reg_mr", "EINVAL",
     "rights that contradict each other: remote write and atomics need "
     "local write"},
    {"ibv_create_cq", "EINVAL", "more entries than the device allows (max_cqe)"},
    {"ibv_create_qp", "EINVAL",
     "more requests, scatter-gather entries or inline bytes than the "
     "device allows (max_qp_wr, max_sge)"},
    {"ibv_create_qp", "ENOMEM", "more requests or queue pairs than the device has room for"},
    {"ibv_create_ah", "EINVAL", "an address without a route, or a GID index without an entry"},
    {"ibv_modify_qp", "EINVAL",
     "an attribute that is missing, not allowed in this state, or above "
     "the port's limits"},
    {"ibv_post_send", "EINVAL",
     "a queue pair that is not in RTS, an opcode that it does not "
     "have, or more entries or inline bytes than it was made for"},
    {"ibv_post_send", "ENOMEM",
     "the send queue has a free slot, but not the memory for the request"},
    {"ibv_wr_complete", "EINVAL",
     "an opcode that the queue pair does not have, or more entries or inline bytes than it was "
     "made "
     "for"},
    {"ibv_wr_complete", "ENOMEM",
     "the send queue has free slots, but not the memory for the batch"},
    {"ibv_post_recv", "EINVAL",
     "a queue pair in RESET, or more scatter-gather entries than it was "
     "made for"},
    {"ibv_post_recv", "ENOMEM", "a receive queue without a free slot"},
    {"ibv_post_srq_recv", "ENOMEM", "a shared receive queue without a free slot"},
    {"rdma_bind_addr", "EADDRINUSE", "another program uses this port"},
    {"rdma_bind_addr", "EADDRNOTAVAIL", "no interface has this address, or the port is in use"},
    {"rdma_bind_addr", "ENODEV", "the interface with this address has no RDMA device"},
    {"rdma_resolve_addr", "ENODEV", "the interface towards this address has no RDMA device"},
    {"rdma_resolve_addr", "ENETUNREACH", "no route leads to this address"},
    {"rdma_connect", "EINVAL", "private data that is too long, or a connection in another state"},
    {"rdma_accept", "EINVAL",
     "private data that is too long, or more READs than the device allows"},
});

Cause& add_failed(Causes& causes, const runlog::Event& event, Certainty certainty,
                  std::string_view reason) {
    const std::string_view error = event[key::error];
    Cause& cause = add_fatal(
        causes, Code::CallFailed, certainty,
        fmt::format("the call {} of {} failed{}{}{}{}.", event[key::call], spoken(event.role),
                    error.empty() ? "" : " with ", error, reason.empty() ? "" : ": ", reason),
        event.role);
    cause.add(evidence(event));
    return cause;
}

void add_failed(Causes& causes, const runlog::Event& event, const std::vector<Reason>& reasons) {
    std::string text;
    for (const Reason& reason : reasons)
        text.append(text.empty() ? "" : "; ").append(reason.text);
    Cause& cause = add_failed(causes, event, reasons.front().certainty, text);
    cause.try_this = reasons.front().try_this;
    for (const Reason& reason : reasons)
        cause.add(value(event.role, reason.values));
}

void add_failed(Causes& causes, const runlog::Event& event, const Logs& logs) {
    const auto meaning = std::ranges::find_if(meanings, [&](const Meaning& one) {
        return one.call == name_of(event) && one.error == event[key::error];
    });
    Cause& cause = add_failed(causes, event, Certainty::Certain,
                              meaning == meanings.end() ? std::string_view() : meaning->text);
    if (event[key::error] == "ENOMEM")
        if (const std::string text = send_queue(event, logs.pair_at(event)); !text.empty())
            cause.add(value(event.role, text));
}

}  // namespace

Progress::Progress(const Logs& logs) {
    for (const LoggedQueuePair& pair : logs.queue_pairs()) {
        OfRole& role = roles_[pair.role];
        if (pair.sends_done != 0 && !pair.posts.empty())
            role.used_ns = std::max(role.used_ns, pair.posts.back().t_ns);
        if (!pair.receive_times.empty())
            role.used_ns = std::max(role.used_ns, pair.receive_times.back());
        if (pair.ready_ns)
            learn_ready(role, pair);
    }
    for (const runlog::Event& event : logs.notices())
        if (event.is("process_end"))
            roles_[event.role].is_end_known = true;
}

void Progress::learn_ready(OfRole& role, const LoggedQueuePair& pair) {
    const bool is_same = role.ready_qpn == pair.qpn;
    if (*pair.ready_ns > role.ready_ns) {
        if (!is_same)
            role.other_ready_ns = role.ready_ns;
        role.ready_ns = *pair.ready_ns;
        role.ready_qpn = pair.qpn;
    } else if (!is_same) {
        role.other_ready_ns = std::max(role.other_ready_ns, *pair.ready_ns);
    }
}

bool Progress::goes_on_after(const runlog::Event& failed) const {
    const auto found = roles_.find(failed.role);
    if (found == roles_.end())
        return false;
    const OfRole& role = found->second;
    const std::int64_t ready_ns =
        failed[key::qpn] == role.ready_qpn ? role.other_ready_ns : role.ready_ns;
    return role.used_ns > failed.t_ns || (!role.is_end_known && ready_ns > failed.t_ns);
}

bool is_failure(const runlog::Event& event, const Progress& progress) {
    return event.is("failed") && std::ranges::find(needed, name_of(event)) != needed.end() &&
           !progress.goes_on_after(event);
}

namespace {

// The peer is not ready because this call failed.
void forget_not_ready(const runlog::Event& failed, const Whole& whole, Causes& causes) {
    const LoggedQueuePair* pair = whole.logs.pair_at(failed);
    if (pair == nullptr || pair->ready_ns || failed[key::call] != "ibv_modify_qp" ||
        whole.directions.of_responder(*pair) == nullptr)
        return;
    for (const Direction& direction : whole.directions)
        if (direction.responder == pair)
            std::erase_if(causes, [&](const Cause& one) {
                return one.code == Code::PeerNotReady && one.where == direction.where();
            });
}

}  // namespace

void explain_calls(const Whole& whole, Causes& causes) {
    for (const runlog::Event& event : whole.logs.notices())
        if (is_failure(event, whole.progress))
            forget_not_ready(event, whole, causes);
    const bool is_explained = std::ranges::any_of(causes, &Cause::is_fatal);
    std::vector<const runlog::Event*> others;
    for (const runlog::Event& event : whole.logs.notices()) {
        if (!is_failure(event, whole.progress))
            continue;
        const std::vector<Reason> reasons = reasons_of(event, whole.logs);
        if (reasons.empty())
            others.push_back(&event);
        else
            add_failed(causes, event, reasons);
    }
    if (is_explained)
        return;
    for (const runlog::Event* event : others)
        add_failed(causes, *event, whole.logs);
}

}  // namespace explain
