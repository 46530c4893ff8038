// A queue pair of any of the three transports that all devices have, from RESET to RTS: what
// ibv_modify_qp wants to know is what the transport needs.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>

#include "exchange/endpoint.hpp"
#include "side.hpp"
#include "util/check.hpp"
#include "verbs/psn.hpp"
#include "verbs/rc_states.hpp"

namespace step10 {

struct Wanted {
    ibv_qp_type type = IBV_QPT_RC;
    ibv_cq* cq = nullptr;
    std::uint32_t sends = 1;     // work requests at once
    std::uint32_t receives = 1;  // of its own; none with
    ibv_srq* srq = nullptr;      // a shared receive queue
    std::uint32_t q_key = 0;     // of UD
    ibv_xrcd* xrcd = nullptr;    // of XRC_RECV
};

class Link {
  public:
    /// Tells the peer of this queue pair, hears of the peer's, and is in RTS; but the peer may not
    /// be yet: Side::meet(). With a link `beside` it, the peer is that one's.
    Link(const Side& side, const Wanted& wanted, const Link* beside = nullptr);

    ibv_qp* qp() const { return qp_.get(); }
    /// What the peer told of its end. UD has no peer: that is one of those to whom it may send.
    const exchange::Endpoint& peer() const { return peer_; }

    /// The PSNs that the request's packets will have are in the log before there is one.
    void post_send(ibv_send_wr& wr) {
        log_.event("post_send",
                   verbs::describe(*qp(), wr, psns_->take(wr.opcode, verbs::length_of(wr))));
        ibv_send_wr* refused = nullptr;
        util::check_rc(ibv_post_send(qp(), &wr, &refused), "ibv_post_send");
    }

    void post_recv(ibv_recv_wr& wr) {
        log_.event("post_recv", verbs::describe(*qp(), wr));
        ibv_recv_wr* refused = nullptr;
        util::check_rc(ibv_post_recv(qp(), &wr, &refused), "ibv_post_recv");
    }

  private:
    static ibv_qp* create(const Side& side, const Wanted& wanted, ibv_qp_cap& cap);
    void connect(const verbs::Gid& own, std::uint32_t psn, unsigned path_mtu);
    void to_rtr_without_repetition(const verbs::Gid& own, unsigned path_mtu);
    void be_ready_for_datagrams(const verbs::Gid& own, std::uint32_t psn, std::uint32_t q_key);

    runlog::Log& log_;
    verbs::Qp qp_;
    exchange::Endpoint peer_;
    std::optional<verbs::PsnPredictor> psns_;
};

inline ibv_qp* Link::create(const Side& side, const Wanted& wanted, ibv_qp_cap& cap) {
    const bool receives = wanted.srq == nullptr && wanted.xrcd == nullptr;
    ibv_qp_init_attr_ex attributes{};
    attributes.qp_type = wanted.type;
    attributes.send_cq = attributes.recv_cq = wanted.cq;
    attributes.srq = wanted.srq;
    attributes.cap = {.max_send_wr = wanted.sends,
                      .max_recv_wr = receives ? wanted.receives : 0,
                      .max_send_sge = 1,
                      .max_recv_sge = receives ? 1U : 0U,
                      .max_inline_data = 0};
    if (wanted.xrcd == nullptr) {
        attributes.comp_mask = IBV_QP_INIT_ATTR_PD;
        attributes.pd = side.pd.get();
    } else {
        attributes.comp_mask = IBV_QP_INIT_ATTR_XRCD;
        attributes.xrcd = wanted.xrcd;
    }
    ibv_qp* qp = util::check_ptr(ibv_create_qp_ex(side.context(), &attributes), "ibv_create_qp_ex");
    cap = attributes.cap;
    return qp;
}

inline Link::Link(const Side& side, const Wanted& wanted, const Link* beside) : log_(side.log) {
    ibv_qp_cap cap{};
    qp_.reset(create(side, wanted, cap));
    log_.event("qp", verbs::describe(*qp_, cap));

    const verbs::Gid& gid = side.device.gid;
    const ibv_port_attr port = verbs::query_port(side.context(), gid.port);
    exchange::Endpoint mine{
        .qpn = qp_->qp_num,
        .psn = side.first_psn,
        .lid = port.lid,
        .path_mtu = static_cast<std::uint16_t>(verbs::bytes_of(port.active_mtu))};
    std::memcpy(mine.gid.data(), gid.raw.raw, mine.gid.size());
    exchange::send_endpoint(side.channel, mine, side.patience());
    log_.event("exchange", exchange::describe(mine, "sent", side.channel.name()));
    if (beside != nullptr) {
        peer_ = beside->peer();
    } else {
        peer_ = exchange::receive_endpoint(side.channel, side.patience());
        log_.event("exchange", exchange::describe(peer_, "received", side.channel.name()));
    }
    if (wanted.type == IBV_QPT_UD)
        be_ready_for_datagrams(gid, mine.psn, wanted.q_key);
    else
        connect(gid, mine.psn, std::min(mine.path_mtu, peer_.path_mtu));
}

// RC: who the peer is, which PSN is expected, and all about repeating: timers, counts, READs. UC:
// the peer and the PSN, too; but there is nothing to say about repeating. XRC's two ends have one
// half of RC each: what a responder must know, and what a requester must.
inline void Link::connect(const verbs::Gid& own, std::uint32_t psn, unsigned path_mtu) {
    verbs::to_init(qp(), own.port, 0);
    if (qp()->qp_type == IBV_QPT_RC || qp()->qp_type == IBV_QPT_XRC_RECV) {
        verbs::RcPeer peer{.qpn = peer_.qpn, .psn = peer_.psn};
        std::memcpy(peer.gid.raw, peer_.gid.data(), peer_.gid.size());
        verbs::to_rtr(qp(), own, peer, path_mtu);
    } else {
        to_rtr_without_repetition(own, path_mtu);
    }
    if (qp()->qp_type == IBV_QPT_UC) {
        ibv_qp_attr attributes{};
        attributes.qp_state = IBV_QPS_RTS;
        attributes.sq_psn = psn;
        util::check_rc(ibv_modify_qp(qp(), &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN),
                       "ibv_modify_qp(RTR to RTS)");
    } else if (qp()->qp_type != IBV_QPT_XRC_RECV) {  // which answers in RTR, and never asks
        // 0.5 s: under emulation an answer takes longer than on a network, where it is no loss.
        verbs::to_rts(qp(), psn, {.timeout = 17, .retry_cnt = 7});
    }
    log_.event("qp_state", verbs::query_state(qp()));
    psns_.emplace(psn, path_mtu);
}

inline void Link::to_rtr_without_repetition(const verbs::Gid& own, unsigned path_mtu) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_RTR;
    attributes.path_mtu = verbs::mtu_of(path_mtu);
    attributes.dest_qp_num = peer_.qpn;
    attributes.rq_psn = peer_.psn;
    attributes.ah_attr.is_global = 1;
    attributes.ah_attr.port_num = own.port;
    std::memcpy(attributes.ah_attr.grh.dgid.raw, peer_.gid.data(), peer_.gid.size());
    attributes.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(own.index);
    attributes.ah_attr.grh.hop_limit = 64;
    util::check_rc(
        ibv_modify_qp(qp(), &attributes,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN),
        "ibv_modify_qp(INIT to RTR)");
}

// UD: no peer, no path MTU, no expected PSN. But a key that every sender has to know.
inline void Link::be_ready_for_datagrams(const verbs::Gid& own, std::uint32_t psn,
                                         std::uint32_t q_key) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.port_num = own.port;
    attributes.qkey = q_key;
    util::check_rc(ibv_modify_qp(qp(), &attributes,
                                 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
                   "ibv_modify_qp(RESET to INIT)");
    attributes.qp_state = IBV_QPS_RTR;
    util::check_rc(ibv_modify_qp(qp(), &attributes, IBV_QP_STATE), "ibv_modify_qp(INIT to RTR)");
    attributes.qp_state = IBV_QPS_RTS;
    attributes.sq_psn = psn;
    util::check_rc(ibv_modify_qp(qp(), &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN),
                   "ibv_modify_qp(RTR to RTS)");
    log_.event("qp_state",
               {{"qpn", qp()->qp_num}, {"state", "RTS"}, {"sq_psn", psn}, {"q_key", q_key}});
    // A message is one packet, however long.
    psns_.emplace(psn, std::numeric_limits<unsigned>::max());
}

}  // namespace step10
