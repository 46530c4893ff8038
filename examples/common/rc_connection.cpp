#include "examples/common/rc_connection.hpp"

#include <algorithm>
#include <cstring>

#include "rdma/names.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace common {

void RcSide::check_stop() const {
    if (stop.requested())
        throw util::Error("stopped by a signal.");
}

RcConnection::RcConnection(const RcSide& side, const Wanted& wanted) {
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = wanted.cq;
    attributes.recv_cq = wanted.cq;
    attributes.sq_sig_all = 0;  // only requests with IBV_SEND_SIGNALED generate a completion
    attributes.cap = {.max_send_wr = wanted.max_send_wr,
                      .max_recv_wr = wanted.max_recv_wr,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = 0};
    qp_.reset(CHECK_PTR(ibv_create_qp(side.pd, &attributes)));

    const ibv_port_attr port = rdma::query_port(side.context, side.gid.port);
    net::Endpoint mine{.qpn = qp_->qp_num,
                       .psn = wanted.first_psn,
                       .lid = port.lid,
                       .path_mtu = static_cast<std::uint16_t>(
                           std::min(rdma::bytes_of(port.active_mtu), wanted.path_mtu))};
    std::memcpy(mine.gid.data(), side.gid.raw.raw, mine.gid.size());
    if (wanted.exposed != nullptr) {
        mine.va = reinterpret_cast<std::uintptr_t>(wanted.exposed->addr);
        mine.length = wanted.exposed->length;
        mine.rkey = wanted.exposed->rkey;
    }
    side.log.event("psn",
                   {{"qpn", mine.qpn}, {"psn", mine.psn}, {"source", "the program's default"}});
    net::send_endpoint(side.channel, mine, side.limit());
    const net::Endpoint theirs = net::receive_endpoint(side.channel, side.limit());
    side.log.event("exchange", net::describe(mine, "sent", side.channel.name()));
    side.log.event("exchange", net::describe(theirs, "received", side.channel.name()));
    remote_ = {.va = theirs.va, .rkey = theirs.rkey};
    remote_length_ = theirs.length;

    path_mtu_ = std::min(mine.path_mtu, theirs.path_mtu);
    RcPeer peer{.qpn = theirs.qpn, .psn = theirs.psn, .traffic_class = wanted.traffic_class};
    std::memcpy(peer.gid.raw, theirs.gid.data(), theirs.gid.size());
    to_init(qp(), side.gid.port, wanted.access);
    to_rtr(qp(), side.gid, peer, path_mtu_, wanted.reads);
    if (wanted.retry)
        to_rts(qp(), mine.psn, *wanted.retry, wanted.reads);
}

}  // namespace common
