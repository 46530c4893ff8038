// A connection by hand, as step 06 writes it out: here both ends make one for each part of the
// step, with the queues that the part wants.
#pragma once

#include <algorithm>
#include <cstring>

#include "examples/common/transfer.hpp"
#include "exchange/channel.hpp"
#include "runlog/log.hpp"
#include "util/check.hpp"
#include "util/error.hpp"
#include "verbs/describe.hpp"
#include "verbs/device.hpp"
#include "verbs/names.hpp"
#include "verbs/psn.hpp"
#include "verbs/rc_states.hpp"

namespace step12 {

/// What all connections of a program have in common.
struct Side {
    exchange::Channel& channel;
    verbs::DevicePort device;
    verbs::Pd pd;
    std::uint32_t first_psn;
    runlog::Log& log;
    util::StopSignal& stop;
    std::chrono::milliseconds time;  // for whatever is waited for

    ibv_context* context() const { return device.context.get(); }
    util::Deadline deadline() const { return util::deadline_in(time); }
    exchange::Patience patience() const { return {stop, deadline()}; }
    /// For loops that may find all they wait for, and so never wait.
    void check_stop() const {
        if (stop.requested())
            throw util::Error("stopped by a signal.");
    }
    void meet() const { exchange::meet(channel, patience()); }
    /// However long the peer takes: its end of the connection ends the wait.
    void meet_at_last() const { exchange::meet(channel, {stop, std::nullopt}); }
};

struct Wanted {
    ibv_cq* send_cq = nullptr;
    ibv_cq* recv_cq = nullptr;
    std::uint32_t max_send_wr = 1;
    std::uint32_t max_recv_wr = 1;
    std::uint32_t max_inline_data = 0;
    /// 4 s, so that nothing is sent again needlessly: under emulation an answer may take long, and
    /// rxe's timer may run out on a request that it was not started for (rxe_comp.c).
    verbs::Repetition repetition{.timeout = 20, .count = 7};
};

class Link {
  public:
    /// In RTS; but the peer may not be yet: Side::meet(). `lent`: null where nothing is.
    Link(const Side& side, const Wanted& wanted, const ibv_mr* lent = nullptr);

    ibv_qp* qp() const { return qp_.get(); }
    /// What was got: at least what was wanted.
    const ibv_qp_cap& cap() const { return cap_; }
    const common::RemoteMemory& remote() const { return remote_; }

    void post_send(ibv_send_wr& wr) {
        log_.event("post_send", describe(wr));
        post_unlogged(wr);
    }

    void post_unlogged(ibv_send_wr& wr) {
        ibv_send_wr* refused = nullptr;
        util::check_rc(ibv_post_send(qp(), &wr, &refused), "ibv_post_send");
    }

    void post_recv(ibv_recv_wr& wr) {
        log_.event("post_recv", describe(wr));
        post_unlogged(wr);
    }

    void post_unlogged(ibv_recv_wr& wr) {
        ibv_recv_wr* refused = nullptr;
        util::check_rc(ibv_post_recv(qp(), &wr, &refused), "ibv_post_recv");
    }

    /// A "post_send" event. Each request is described once, in the order of the posts: it takes the
    /// next PSNs.
    runlog::Fields describe(const ibv_send_wr& wr) {
        return verbs::describe(*qp(), wr, psns_->take(wr.opcode, verbs::length_of(wr)));
    }
    runlog::Fields describe(const ibv_recv_wr& wr) const { return verbs::describe(*qp(), wr); }

    runlog::Log& log() const { return log_; }

  private:
    runlog::Log& log_;
    verbs::Qp qp_;
    ibv_qp_cap cap_{};
    common::RemoteMemory remote_;
    std::optional<verbs::PsnPredictor> psns_;
};

inline Link::Link(const Side& side, const Wanted& wanted, const ibv_mr* lent) : log_(side.log) {
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = wanted.send_cq;
    attributes.recv_cq = wanted.recv_cq;
    attributes.sq_sig_all = 0;  // only requests with IBV_SEND_SIGNALED have a completion
    attributes.cap = {.max_send_wr = wanted.max_send_wr,
                      .max_recv_wr = wanted.max_recv_wr,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = wanted.max_inline_data};
    qp_.reset(util::check_ptr(ibv_create_qp(side.pd.get(), &attributes), "ibv_create_qp"));
    cap_ = attributes.cap;
    log_.event("qp", verbs::describe(*qp_, cap_));

    const verbs::Gid& gid = side.device.gid;
    const ibv_port_attr port = verbs::query_port(side.context(), gid.port);
    exchange::Endpoint mine{
        .qpn = qp_->qp_num,
        .psn = side.first_psn,
        .lid = port.lid,
        .path_mtu = static_cast<std::uint16_t>(verbs::bytes_of(port.active_mtu))};
    std::memcpy(mine.gid.data(), gid.raw.raw, mine.gid.size());
    if (lent != nullptr) {
        mine.va = reinterpret_cast<std::uintptr_t>(lent->addr);
        mine.length = lent->length;
        mine.rkey = lent->rkey;
    }
    log_.event("psn", {{"qpn", mine.qpn}, {"psn", mine.psn}, {"source", "the program's default"}});
    exchange::send_endpoint(side.channel, mine, side.patience());
    const exchange::Endpoint theirs = exchange::receive_endpoint(side.channel, side.patience());
    log_.event("exchange", exchange::describe(mine, "sent", side.channel.name()));
    log_.event("exchange", exchange::describe(theirs, "received", side.channel.name()));
    remote_ = {.va = theirs.va, .rkey = theirs.rkey};

    verbs::RcPeer peer{.qpn = theirs.qpn, .psn = theirs.psn};
    std::memcpy(peer.gid.raw, theirs.gid.data(), theirs.gid.size());
    verbs::to_init(qp(), gid.port, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    verbs::to_rtr(qp(), gid, peer, std::min(mine.path_mtu, theirs.path_mtu));
    verbs::to_rts(qp(), mine.psn, wanted.repetition);
    log_.event("qp_state", verbs::query_state(qp()));
    psns_ = verbs::PsnPredictor::of(qp());
}

inline ibv_sge piece_of(std::span<const std::byte> bytes, std::uint32_t lkey) {
    return {.addr = reinterpret_cast<std::uintptr_t>(bytes.data()),
            .length = static_cast<std::uint32_t>(bytes.size()),
            .lkey = lkey};
}

/// `piece` must stay where it is until the request has been posted.
inline ibv_send_wr request(ibv_wr_opcode opcode, std::uint64_t wr_id, ibv_sge& piece,
                           unsigned flags, const common::RemoteMemory& remote = {}) {
    ibv_send_wr wr{};
    wr.wr_id = wr_id;
    wr.opcode = opcode;
    wr.send_flags = flags;
    wr.sg_list = &piece;
    wr.num_sge = 1;
    wr.wr.rdma.remote_addr = remote.va;
    wr.wr.rdma.rkey = remote.rkey;
    return wr;
}

inline ibv_recv_wr receive(std::uint64_t wr_id, ibv_sge& piece) {
    ibv_recv_wr wr{};
    wr.wr_id = wr_id;
    wr.sg_list = &piece;
    wr.num_sge = 1;
    return wr;
}

}  // namespace step12
