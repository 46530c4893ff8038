// A device context whose functions the library has replaced by its own.
#pragma once

#include <cstdint>

#include <infiniband/verbs.h>

#include "rocetrace/interpose/pointer_map.hpp"
#include "rocetrace/interpose/queue_pair.hpp"
#include "rocetrace/interpose/sink.hpp"

namespace interpose {

struct Context {
    ibv_context* context = nullptr;
    std::uint32_t number = 0;  // from 1
    ibv_context_ops ops{};     // the provider's
    // The replaced extended functions; null if the provider has none.
    decltype(verbs_context::create_qp_ex) create_qp_ex = nullptr;
    decltype(verbs_context::create_cq_ex) create_cq_ex = nullptr;
    decltype(verbs_context::create_srq_ex) create_srq_ex = nullptr;
    decltype(verbs_context::open_qp) open_qp = nullptr;
    decltype(verbs_context::open_xrcd) open_xrcd = nullptr;
    decltype(verbs_context::close_xrcd) close_xrcd = nullptr;
    decltype(verbs_context::reg_dm_mr) reg_dm_mr = nullptr;
    decltype(verbs_context::alloc_null_mr) alloc_null_mr = nullptr;
    decltype(verbs_context::alloc_parent_domain) alloc_parent_domain = nullptr;
    std::uint64_t gids_told = 0;  // of port 1, index 0 to 63: those with a device event in the log
};

/// A completion queue with the extended interface.
struct ExtendedCq {
    Context* context = nullptr;
    ibv_cq_ex real{};  // the provider's functions
};

extern PointerMap<Context> contexts;
extern PointerMap<TracedQueuePair> queue_pairs;           // by address
extern PointerMap<TracedQueuePair> numbered_queue_pairs;  // by number_key()
extern PointerMap<ExtendedCq> extended_cqs;

inline std::uint64_t number_key(const Context& context, std::uint32_t qpn) {
    return (std::uint64_t{context.number} << 32U) | qpn;
}

/// Replaces the context's functions, unless that has been done.
void adopt(ibv_context* context);
/// Must be called before it is closed: its address may be reused afterwards.
Context* detach(ibv_context* context);
/// Must be called if the call that closes it failed.
void attach_again(Context* context);

/// What both interfaces to create a queue pair know about it.
struct QpRequest {
    bool signals_all;
    const ibv_srq* srq;
    ibv_qp_cap cap;  // as granted
};
/// The type and the sizes of a queue pair, as asked for or as granted.
EventWriter<"qp"> sizes_of(ibv_qp_type type, const ibv_qp_cap& cap);
/// call: that made it.
void adopt(ibv_qp* qp, const QpRequest& request, const ibv_qp_ex* extended,
           const OpenCall* call = nullptr);
/// Must be called before it is destroyed: its address may be reused afterwards.
TracedQueuePair* detach(ibv_qp* qp);
/// Must be called after it was destroyed, or attach_again() if the call failed.
void bury(TracedQueuePair* pair, const OpenCall* call = nullptr);
void attach_again(TracedQueuePair* pair);

void adopt_extended(ibv_cq_ex* cq);
void forget(ibv_cq* cq);

/// Logs the event "qp_state" with all that is known of the queue pair.
void log_state(TracedQueuePair& pair, const OpenCall* call = nullptr);
/// Logs the event "device" with the device's limits.
void log_opened(const OpenCall& call, ibv_context& context);
/// Logs the event "device" with a GID at its first use.
void log_gid(ibv_context* context, std::uint8_t port, std::uint8_t gid_index);

/// Replaces the context's functions, and keeps the provider's in `known`.
void replace_functions(ibv_context* context, Context& known);

// Replacements for the provider's functions.
int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr);
int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr);
int post_srq_recv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr);
int poll_cq(ibv_cq* cq, int num_entries, ibv_wc* wc);
int req_notify_cq(ibv_cq* cq, int solicited_only);
ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type);
int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind);
int dealloc_mw(ibv_mw* mw);
void replace_extended(ibv_qp_ex& qp);
void replace_extended(ibv_cq_ex& cq);

/// For the child of a fork.
void reset_locks();

}  // namespace interpose
