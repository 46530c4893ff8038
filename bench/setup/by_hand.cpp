#include "bench/setup/by_hand.hpp"

#include <algorithm>
#include <cstring>

#include "examples/common/rc_states.hpp"
#include "rdma/names.hpp"
#include "util/check.hpp"

namespace bench {

Resources::Resources(ibv_context* context, int access)
    : pd(CHECK_PTR(ibv_alloc_pd(context))),
      memory(memory_size),
      mr(rdma::register_memory(pd.get(), memory, access)),
      completions(context, 2) {}

ibv_qp_init_attr Resources::qp_attributes() const {
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = completions.cq.get();
    attributes.recv_cq = completions.cq.get();
    attributes.cap = {.max_send_wr = 1,
                      .max_recv_wr = 1,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = 0};
    return attributes;
}

rdma::Qp make_qp(const Resources& resources) {
    ibv_qp_init_attr attributes = resources.qp_attributes();
    return rdma::Qp{CHECK_PTR(ibv_create_qp(resources.pd.get(), &attributes))};
}

net::Endpoint endpoint_of(const Resources& resources, const ibv_qp& qp, const rdma::Gid& gid,
                          std::uint32_t psn) {
    const ibv_port_attr port = rdma::query_port(qp.context, gid.port);
    net::Endpoint mine{.qpn = qp.qp_num,
                       .psn = psn,
                       .lid = port.lid,
                       .path_mtu = static_cast<std::uint16_t>(rdma::bytes_of(port.active_mtu)),
                       .va = reinterpret_cast<std::uintptr_t>(resources.memory.data()),
                       .length = resources.memory.size(),
                       .rkey = resources.mr->rkey};
    std::memcpy(mine.gid.data(), gid.raw.raw, mine.gid.size());
    return mine;
}

void to_rts(ibv_qp* qp, const rdma::Gid& gid, const net::Endpoint& mine,
            const net::Endpoint& theirs, int access) {
    common::RcPeer peer{.qpn = theirs.qpn, .psn = theirs.psn};
    std::memcpy(peer.gid.raw, theirs.gid.data(), theirs.gid.size());
    common::to_init(qp, gid.port, access);
    common::to_rtr(qp, gid, peer, std::min(mine.path_mtu, theirs.path_mtu));
    common::to_rts(qp, mine.psn);
}

}  // namespace bench
