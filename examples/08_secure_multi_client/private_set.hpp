// Lesson 08, the server: the resources of one client. Clients share none of them, so that an rkey
// grants access to its own client only.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "examples/07_secure_psn/random_psn.hpp"
#include "report.hpp"
#include "shared_device.hpp"

namespace lesson08 {

constexpr unsigned peer_access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

/// In the order of creation; destroyed in reverse order. Every call throws std::system_error or
/// util::Error if a verb fails.
struct PrivateSet {
    static constexpr std::uint32_t receives = 4;

    const SharedDevice& device;
    rdma::Pd pd;
    std::vector<std::byte> memory;  // exposed: read and written by the client
    rdma::Mr memory_mr;
    std::array<std::byte, receives * Report::size> inbox{};  // receives the client's SENDs
    rdma::Mr inbox_mr;
    rdma::Cq cq;
    rdma::Qp qp;
    net::Endpoint mine;
    std::uint32_t posted = 0;  // outstanding receives

    /// `owner`: context that the completion queue's events return (ibv_get_cq_event(3)).
    PrivateSet(const SharedDevice& shared, void* owner, std::size_t size)
        : device(shared),
          pd(CHECK_PTR(ibv_alloc_pd(device.port.context.get()))),
          memory(size),
          memory_mr(CHECK_PTR(ibv_reg_mr(pd.get(), memory.data(), memory.size(),
                                         IBV_ACCESS_LOCAL_WRITE | peer_access))),
          inbox_mr(
              CHECK_PTR(ibv_reg_mr(pd.get(), inbox.data(), inbox.size(), IBV_ACCESS_LOCAL_WRITE))),
          cq(CHECK_PTR(
              ibv_create_cq(device.port.context.get(), receives, owner, device.channel.get(), 0))) {
        CHECK_RC(ibv_req_notify_cq(cq.get(), 0));
        ibv_qp_init_attr attributes{};
        attributes.qp_type = IBV_QPT_RC;
        attributes.send_cq = cq.get();
        attributes.recv_cq = cq.get();
        attributes.cap = {.max_send_wr = 1,
                          .max_recv_wr = receives,
                          .max_send_sge = 1,
                          .max_recv_sge = 1,
                          .max_inline_data = 0};
        qp.reset(CHECK_PTR(ibv_create_qp(pd.get(), &attributes)));
        mine = {.qpn = qp->qp_num,
                .psn = lesson07::random_psn(),
                .lid = device.port.lid,
                .path_mtu = device.port.path_mtu,
                .va = reinterpret_cast<std::uintptr_t>(memory.data()),
                .length = memory.size(),
                .rkey = memory_mr->rkey};
        std::memcpy(mine.gid.data(), device.port.gid.raw, mine.gid.size());
    }

    /// Moves the queue pair to INIT and posts all receives before the first packet can arrive.
    void prepare() {
        lesson06::to_init(qp.get(), device.port, peer_access);
        for (std::uint64_t wr_id = 0; wr_id < receives; ++wr_id)
            post_receive(wr_id);
    }

    /// Moves the queue pair to RTS. Blocks while the kernel resolves the client's GID, up to about
    /// a second if there is no reply: call it on a thread that may block.
    void connect(const net::Endpoint& theirs) const {
        lesson06::to_rtr(qp.get(), device.port, theirs);
        lesson06::to_rts(qp.get(), mine.psn);
    }

    /// Moves the queue pair to ERR: all posted receives complete with WR_FLUSH_ERR. After the last
    /// one the device no longer uses this memory.
    void drain() const {
        ibv_qp_attr attr{};
        attr.qp_state = IBV_QPS_ERR;
        util::check_rc(ibv_modify_qp(qp.get(), &attr, IBV_QP_STATE), "ibv_modify_qp(to ERR)");
    }

    /// Returns the part of the inbox that receive `wr_id` fills.
    std::span<std::byte, Report::size> slot(std::uint64_t wr_id) {
        return std::span(inbox).subspan(wr_id * Report::size).first<Report::size>();
    }

    /// `wr_id`: 0 .. receives - 1.
    void post_receive(std::uint64_t wr_id) {
        ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(slot(wr_id).data()),
                    .length = Report::size,
                    .lkey = inbox_mr->lkey};
        ibv_recv_wr wr{};
        wr.wr_id = wr_id;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        ibv_recv_wr* bad_wr = nullptr;
        CHECK_RC(ibv_post_recv(qp.get(), &wr, &bad_wr));
        ++posted;
    }
};

}  // namespace lesson08
