// Lesson 08: what all clients share at the server, and what each of them has for itself.
#pragma once

#include <array>
#include <cstring>
#include <fcntl.h>
#include <vector>

#include "examples/06_verbs_tcp_exchange/connection.hpp"
#include "examples/07_secure_psn/random_psn.hpp"

namespace lesson08 {

constexpr unsigned peer_access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
constexpr std::size_t message_size = 32;  // of a client's SEND

/// Both sides: a queue pair, and its endpoint.
inline rdma::Qp make_qp(ibv_pd* pd, ibv_cq* cq, std::uint32_t receives) {
    ibv_qp_init_attr attributes{
        .send_cq = cq,
        .recv_cq = cq,
        .cap = {.max_send_wr = 1, .max_recv_wr = receives, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    return rdma::Qp{CHECK_PTR(ibv_create_qp(pd, &attributes))};
}

inline net::Endpoint endpoint_of(const ibv_qp& qp, const lesson06::Port& port, const ibv_mr& mr) {
    net::Endpoint mine{.qpn = qp.qp_num,
                       .psn = lesson07::random_psn(),
                       .lid = port.lid,
                       .path_mtu = port.path_mtu,
                       .va = reinterpret_cast<std::uintptr_t>(mr.addr),
                       .length = mr.length,
                       .rkey = mr.rkey};
    std::memcpy(mine.gid.data(), port.gid.raw, mine.gid.size());
    return mine;
}

inline runlog::Fields describe_psn(const net::Endpoint& mine) {
    return {{"qpn", mine.qpn}, {"psn", mine.psn}, {"source", "RAND_bytes"}};
}

/// Shared: the open device, and the channel for the events of all completion queues.
struct SharedDevice {
    lesson06::Port port;
    rdma::CompChannel channel;

    explicit SharedDevice(const util::Address& address)
        : port(lesson06::open_port(address)),
          channel(CHECK_PTR(ibv_create_comp_channel(port.context.get()))) {
        // ibv_get_cq_event() then returns immediately if there is no event.
        util::check_errno(fcntl(channel->fd, F_SETFL, O_NONBLOCK), "fcntl(O_NONBLOCK)");
    }
};

/// Private to one client, in the order of creation; destroyed in reverse order.
struct PrivateSet {
    static constexpr std::uint32_t receives = 4;
    const SharedDevice& device;
    rdma::Pd pd;
    std::vector<std::byte> memory;  // exposed: read and written by the client
    rdma::Mr memory_mr;
    std::array<std::byte, receives * message_size> inbox{};  // receives the client's SENDs
    rdma::Mr inbox_mr;
    rdma::Cq cq;
    rdma::Qp qp;
    net::Endpoint mine;
    std::uint32_t posted = 0;  // outstanding receives

    /// `owner`: what the events of this completion queue return (ibv_get_cq_event(3)).
    PrivateSet(const SharedDevice& shared, void* owner, std::size_t size = 16 << 10)
        : device(shared),
          pd(CHECK_PTR(ibv_alloc_pd(device.port.context.get()))),
          memory(size),
          memory_mr(CHECK_PTR(ibv_reg_mr(pd.get(), memory.data(), memory.size(),
                                         IBV_ACCESS_LOCAL_WRITE | peer_access))),
          inbox_mr(
              CHECK_PTR(ibv_reg_mr(pd.get(), inbox.data(), inbox.size(), IBV_ACCESS_LOCAL_WRITE))),
          cq(CHECK_PTR(
              ibv_create_cq(device.port.context.get(), receives, owner, device.channel.get(), 0))),
          qp(make_qp(pd.get(), cq.get(), receives)),
          mine(endpoint_of(*qp, device.port, *memory_mr)) {
        CHECK_RC(ibv_req_notify_cq(cq.get(), 0));
        // All receives are posted before the first packet can arrive.
        lesson06::to_init(qp.get(), device.port, peer_access);
        for (std::uint64_t wr_id = 0; wr_id < receives; ++wr_id)
            post_receive(wr_id);
    }

    /// Blocks while the kernel resolves the client's GID: about a second if no host responds.
    void connect(const net::Endpoint& theirs) const {
        lesson06::to_rtr(qp.get(), device.port, theirs);
        lesson06::to_rts(qp.get(), mine.psn);
    }

    /// All posted receives complete with WR_FLUSH_ERR. Then the device no longer uses this memory.
    void drain() const {
        ibv_qp_attr attr{.qp_state = IBV_QPS_ERR};
        util::check_rc(ibv_modify_qp(qp.get(), &attr, IBV_QP_STATE), "ibv_modify_qp(to ERR)");
    }

    /// `wr_id`: 0 .. receives - 1: the message's place in the inbox.
    void post_receive(std::uint64_t wr_id) {
        ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(&inbox[wr_id * message_size]),
                    .length = message_size,
                    .lkey = inbox_mr->lkey};
        ibv_recv_wr wr{.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};
        ibv_recv_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_recv(qp.get(), &wr, &bad_wr));
        ++posted;
    }
};

}  // namespace lesson08
