// Lesson 06, both sides: from an IP address to an open device, and from RESET to RTS.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "net/endpoint.hpp"
#include "rdma/handles.hpp"
#include "rdma/names.hpp"
#include "util/address.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace lesson06 {

/// An open device, with the port and the GID of a local address.
struct Port {
    rdma::Context context;
    std::uint8_t number = 0;
    std::uint8_t gid_index = 0;
    ibv_gid gid{};
    std::uint16_t lid = 0;       // 0 on RoCE
    std::uint16_t path_mtu = 0;  // bytes
};

/// Opens the device with the RoCE v2 GID for `address`. The index is never a constant: the order of
/// a GID table depends on the driver, the addresses and when they were added. Throws util::Error,
/// std::system_error.
inline Port open_port(const util::Address& address) {
    const auto wanted = address.ipv6_bytes();  // IPv4: ::ffff:192.0.2.1
    int count = 0;
    ibv_device** list = ibv_get_device_list(&count);  // null: this kernel has no RDMA
    const std::unique_ptr<ibv_device*, void (*)(ibv_device**)> owner(list, ibv_free_device_list);
    for (ibv_device* device :
         std::span(list, list == nullptr ? 0 : static_cast<std::size_t>(count))) {
        rdma::Context context{CHECK_PTR(ibv_open_device(device))};
        std::vector<ibv_gid_entry> gids(1024);
        const auto entries = ibv_query_gid_table(context.get(), gids.data(), gids.size(), 0);
        util::check_rc(static_cast<int>(std::min<ssize_t>(entries, 0)), "ibv_query_gid_table");
        gids.resize(static_cast<std::size_t>(entries));
        for (const ibv_gid_entry& entry : gids) {
            if (entry.gid_type != IBV_GID_TYPE_ROCE_V2 ||
                std::memcmp(entry.gid.raw, wanted.data(), wanted.size()) != 0)
                continue;
            ibv_port_attr port{};
            const auto number = static_cast<std::uint8_t>(entry.port_num);
            CHECK_RC(ibv_query_port(context.get(), number, &port));
            return {std::move(context),
                    number,
                    static_cast<std::uint8_t>(entry.gid_index),
                    entry.gid,
                    port.lid,
                    static_cast<std::uint16_t>(rdma::bytes_of(port.active_mtu))};
        }
    }
    throw util::Error(
        "no RDMA device of this host has the address " + address.host() +
        ": connect through an interface that has one (00_hello/devices lists them and "
        "reports what is missing).");
}

/// INIT: binds the queue pair to a port and sets the access rights for the peer's requests.
inline void to_init(ibv_qp* qp, const Port& port, unsigned access) {
    ibv_qp_attr attr{.qp_state = IBV_QPS_INIT,
                     .qp_access_flags = access,
                     .pkey_index = 0,
                     .port_num = port.number};
    util::check_rc(
        ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
        "ibv_modify_qp(RESET to INIT)");
}

/// RTR, ready to receive: where the peer is, and the PSN of its first packet. `traffic_class`: of
/// packets to the peer, DSCP in bits 7:2 and ECN in bits 1:0 (lesson 21).
inline void to_rtr(ibv_qp* qp, const Port& port, const net::Endpoint& peer,
                   std::uint8_t traffic_class = 0) {
    ibv_qp_attr attr{
        .qp_state = IBV_QPS_RTR,
        .path_mtu = rdma::mtu_of(std::min(port.path_mtu, peer.path_mtu)),  // what both support
        .rq_psn = peer.psn,
        .dest_qp_num = peer.qpn,
        .ah_attr = {.grh = {.sgid_index = port.gid_index,
                            .hop_limit = 64,
                            .traffic_class = traffic_class},
                    .is_global = 1,  // RoCE packets always have an IP header
                    .port_num = port.number},
        .max_dest_rd_atomic = 1,  // outstanding READs and atomics of the peer
        .min_rnr_timer = 12};     // 0.64 ms: how long the peer waits after "receiver not ready"
    std::memcpy(attr.ah_attr.grh.dgid.raw, peer.gid.data(), peer.gid.size());
    util::check_rc(
        ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
        "ibv_modify_qp(INIT to RTR)");
}

/// RTS, ready to send: the PSN of this side's first packet, and how it retransmits.
inline void to_rts(ibv_qp* qp, std::uint32_t psn) {
    ibv_qp_attr attr{.qp_state = IBV_QPS_RTS,
                     .sq_psn = psn,
                     .max_rd_atomic = 1,  // at most the peer's max_dest_rd_atomic
                     .timeout = 14,       // 67 ms (4.096 us * 2^14) without a response: retransmit,
                     .retry_cnt = 7,      // and give up after so many retries
                     .rnr_retry = 7};     // 7: without limit
    util::check_rc(ibv_modify_qp(qp, &attr,
                                 IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC |
                                     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY),
                   "ibv_modify_qp(RTR to RTS)");
}

}  // namespace lesson06
