// What both programs do to connect a queue pair by hand, as step 06 writes it out.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "exchange/channel.hpp"
#include "runlog/log.hpp"
#include "util/check.hpp"
#include "verbs/completion.hpp"
#include "verbs/device.hpp"
#include "verbs/names.hpp"
#include "verbs/rc_states.hpp"

struct Link {
    verbs::Qp qp;
    exchange::Endpoint mine;
    exchange::Endpoint theirs;
};

inline constexpr std::string_view random_source = "RAND_bytes";
inline constexpr std::string_view reused_source = "the one before";

inline verbs::Qp make_qp(ibv_pd* pd, const verbs::CompletionQueue& completions) {
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = completions.cq.get();
    attributes.recv_cq = completions.cq.get();
    attributes.cap = {.max_send_wr = 4,
                      .max_recv_wr = 1,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = 0};
    return verbs::Qp{util::check_ptr(ibv_create_qp(pd, &attributes), "ibv_create_qp")};
}

/// `lent`: null where this end lends no memory.
inline exchange::Endpoint endpoint_of(const ibv_qp& qp, std::uint32_t psn, const verbs::Gid& gid,
                                      const ibv_mr* lent) {
    const ibv_port_attr port = verbs::query_port(qp.context, gid.port);
    exchange::Endpoint endpoint{
        .qpn = qp.qp_num,
        .psn = psn,
        .lid = port.lid,
        .path_mtu = static_cast<std::uint16_t>(verbs::bytes_of(port.active_mtu))};
    std::memcpy(endpoint.gid.data(), gid.raw.raw, endpoint.gid.size());
    if (lent != nullptr) {
        endpoint.va = reinterpret_cast<std::uintptr_t>(lent->addr);
        endpoint.length = lent->length;
        endpoint.rkey = lent->rkey;
    }
    return endpoint;
}

/// To the log, a queue pair that begins anew is a new one: its requests are counted from the first.
inline void announce(const exchange::Endpoint& mine, std::string_view psn_source,
                     runlog::Log& log) {
    log.event("qp", {{"qpn", mine.qpn}, {"type", verbs::name_of(IBV_QPT_RC)}});
    log.event("psn", {{"qpn", mine.qpn}, {"psn", mine.psn}, {"source", psn_source}});
}

inline void reset(ibv_qp* qp) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_RESET;
    util::check_rc(ibv_modify_qp(qp, &attributes, IBV_QP_STATE), "ibv_modify_qp(to RESET)");
}

/// From RESET to RTS.
inline void raise(const Link& link, const verbs::Gid& gid, int access,
                  const verbs::RetryPolicy& retry) {
    verbs::RcPeer peer{.qpn = link.theirs.qpn, .psn = link.theirs.psn};
    std::memcpy(peer.gid.raw, link.theirs.gid.data(), link.theirs.gid.size());
    verbs::to_init(link.qp.get(), gid.port, access);
    verbs::to_rtr(link.qp.get(), gid, peer, std::min(link.mine.path_mtu, link.theirs.path_mtu));
    verbs::to_rts(link.qp.get(), link.mine.psn, retry);
}
