// Lesson 11, both sides: a connection as in lesson 06, without exposed memory.
#pragma once

#include "examples/06_verbs_tcp_exchange/connection.hpp"
#include "net/tcp.hpp"

namespace lesson11 {

inline constexpr int messages = 4;  // in each part of the run
inline constexpr std::uint32_t message_size = 64;

/// From RESET to RTS. `posted`: called in INIT to post receives before the first packet can arrive.
template <typename Posted>
void connect(net::Channel& channel, const net::TimeLimit& limit, ibv_qp* qp,
             const lesson06::Port& port, std::uint32_t psn, Posted posted) {
    net::Endpoint mine{.qpn = qp->qp_num, .psn = psn, .lid = port.lid, .path_mtu = port.path_mtu};
    std::memcpy(mine.gid.data(), port.gid.raw, mine.gid.size());
    net::send_endpoint(channel, mine, limit);
    const net::Endpoint theirs = net::receive_endpoint(channel, limit);
    lesson06::to_init(qp, port, 0);
    posted();
    lesson06::to_rtr(qp, port, theirs);
    lesson06::to_rts(qp, psn);
    net::barrier(channel, limit);
}

}  // namespace lesson11
