// What the server of step 08 has for one client: nothing in it is another client's, so that an rkey
// opens one client's memory to that client alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "examples/07_secure_psn/random_psn.hpp"
#include "exchange/endpoint.hpp"
#include "report.hpp"
#include "util/check.hpp"
#include "util/error.hpp"
#include "verbs/device.hpp"
#include "verbs/names.hpp"
#include "verbs/rc_states.hpp"

namespace step08 {

inline constexpr int access_rights =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

/// In the order of creation, as it is destroyed in the reverse one. Every call throws
/// std::system_error or util::Error where a verb fails.
struct PrivateSet {
    static constexpr std::uint32_t receives = 4;
    static constexpr ibv_qp_cap cap{.max_send_wr = 1,
                                    .max_recv_wr = receives,
                                    .max_send_sge = 1,
                                    .max_recv_sge = 1,
                                    .max_inline_data = 0};

    verbs::Pd pd;
    std::vector<std::byte> memory;  // lent: the client writes and reads it
    verbs::Mr memory_mr;
    std::array<std::byte, receives * Report::size> inbox{};  // where its SENDs go
    verbs::Mr inbox_mr;
    verbs::Cq cq;
    verbs::Qp qp;
    std::uint32_t posted = 0;  // receives that have not completed

    /// `channel`: wakes the waiter for all clients at once; `owner` comes back with each event and
    /// says which of them it is about (ibv_get_cq_event(3)).
    PrivateSet(ibv_context* context, ibv_comp_channel* channel, void* owner, std::size_t size)
        : pd(util::check_ptr(ibv_alloc_pd(context), "ibv_alloc_pd")),
          memory(size),
          memory_mr(verbs::register_memory(pd.get(), memory, access_rights)),
          inbox_mr(verbs::register_memory(pd.get(), inbox, IBV_ACCESS_LOCAL_WRITE)),
          cq(util::check_ptr(ibv_create_cq(context, receives, owner, channel, 0),
                             "ibv_create_cq")) {
        util::check_rc(ibv_req_notify_cq(cq.get(), 0), "ibv_req_notify_cq");
        ibv_qp_init_attr attributes{};
        attributes.qp_type = IBV_QPT_RC;
        attributes.send_cq = cq.get();
        attributes.recv_cq = cq.get();
        attributes.cap = cap;
        qp.reset(util::check_ptr(ibv_create_qp(pd.get(), &attributes), "ibv_create_qp"));
    }

    /// To INIT, with every receive posted before the first packet can come. What the client has to
    /// know: the PSN in it is new, and random.
    exchange::Endpoint prepare(const verbs::Gid& gid) {
        const ibv_port_attr port = verbs::query_port(qp->context, gid.port);
        exchange::Endpoint mine{
            .qpn = qp->qp_num,
            .psn = step07::random_psn(),
            .lid = port.lid,
            .path_mtu = static_cast<std::uint16_t>(verbs::bytes_of(port.active_mtu)),
            .va = reinterpret_cast<std::uintptr_t>(memory.data()),
            .length = memory.size(),
            .rkey = memory_mr->rkey};
        std::memcpy(mine.gid.data(), gid.raw.raw, mine.gid.size());
        verbs::to_init(qp.get(), gid.port, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
        for (std::uint64_t wr_id = 0; wr_id < receives; ++wr_id)
            post_receive(wr_id);
        return mine;
    }

    /// To RTS. Blocks while the kernel resolves the client's GID, for about a second where nobody
    /// answers: for a thread that may wait.
    void connect(const verbs::Gid& gid, const exchange::Endpoint& mine,
                 const exchange::Endpoint& theirs) const {
        verbs::RcPeer peer{.qpn = theirs.qpn, .psn = theirs.psn};
        std::memcpy(peer.gid.raw, theirs.gid.data(), theirs.gid.size());
        verbs::to_rtr(qp.get(), gid, peer, std::min(mine.path_mtu, theirs.path_mtu));
        verbs::to_rts(qp.get(), mine.psn);
    }

    /// The completions that are there, at most as many as there is room for.
    std::span<ibv_wc> poll(std::span<ibv_wc> room) const {
        const int found = ibv_poll_cq(cq.get(), static_cast<int>(room.size()), room.data());
        if (found < 0)
            throw util::Error("ibv_poll_cq failed: the completion queue is broken.");
        return room.first(static_cast<std::size_t>(found));
    }

    /// The part of the inbox that receive `wr_id` fills.
    std::span<std::byte, Report::size> slot(std::uint64_t wr_id) {
        return std::span(inbox).subspan(wr_id * Report::size).first<Report::size>();
    }

    /// `wr_id`: 0 .. receives - 1.
    void post_receive(std::uint64_t wr_id) {
        ibv_sge piece{.addr = reinterpret_cast<std::uintptr_t>(slot(wr_id).data()),
                      .length = Report::size,
                      .lkey = inbox_mr->lkey};
        ibv_recv_wr wr{};
        wr.wr_id = wr_id;
        wr.sg_list = &piece;
        wr.num_sge = 1;
        ibv_recv_wr* refused = nullptr;
        util::check_rc(ibv_post_recv(qp.get(), &wr, &refused), "ibv_post_recv");
        ++posted;
    }
};

/// Why a receive that completed is no report. After an error, byte_len says nothing
/// (ibv_poll_cq(3)).
inline std::string objection_to(const ibv_wc& wc) {
    return wc.status == IBV_WC_SUCCESS
               ? fmt::format("a SEND of {} bytes is no report.", wc.byte_len)
               : fmt::format("a receive completed with {}.", verbs::name_of(wc.status));
}

}  // namespace step08
