// The queue pairs among the ranks: one to the rank 2^round further on and one from the rank 2^round
// behind, for each round. Those of round 0 are the ring. Nothing but the table says whom to connect
// to.
#pragma once

#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "examples/07_secure_psn/random_psn.hpp"
#include "inbox.hpp"
#include "record.hpp"
#include "verbs/device.hpp"
#include "verbs/psn.hpp"
#include "verbs/rc_states.hpp"

namespace step17 {

/// Where a rank's queue pairs are made.
struct Port {
    ibv_context* context;
    ibv_pd* pd;
    ibv_cq* cq;
    verbs::Gid gid;
};

class Mesh {
  public:
    Mesh(std::uint16_t rank, std::uint16_t ranks, const Port& port, Inbox& inbox, runlog::Log& log)
        : rank_(rank), ranks_(ranks), port_(port), inbox_(inbox), log_(log) {
        for (unsigned round = 0; round < rounds_of(ranks); ++round) {
            out_.push_back(make(1));
            in_.push_back(make(receives_of(round)));
        }
    }

    /// What the others must know of these queue pairs.
    void describe(Record& record) const {
        record.path_mtu = static_cast<std::uint16_t>(
            verbs::bytes_of(verbs::query_port(port_.context, port_.gid.port).active_mtu));
        std::memcpy(record.gid.data(), port_.gid.raw.raw, record.gid.size());
        for (std::size_t round = 0; round < out_.size(); ++round) {
            record.out[round] = out_[round].end;
            record.in[round] = in_[round].end;
        }
    }

    /// 1. To RTS, as in step 06; only that the peer's half comes out of the table. A receive can be
    /// posted from INIT on, and a packet be received from RTR on: each receive is there first.
    void connect(const std::vector<Record>& table) {
        const std::uint16_t path_mtu = table.at(rank_).path_mtu;
        for (unsigned round = 0; round < out_.size(); ++round) {
            const std::uint16_t before = rank_before(rank_, round, ranks_);
            const std::uint16_t after = rank_after(rank_, round, ranks_);
            verbs::to_init(in_[round].qp.get(), port_.gid.port, IBV_ACCESS_REMOTE_WRITE);
            inbox_.add(in_[round].qp.get(), before, receives_of(round));
            connect(in_[round], table.at(before), table.at(before).out[round], path_mtu);
            verbs::to_init(out_[round].qp.get(), port_.gid.port, 0);
            inbox_.add(out_[round].qp.get(), after, 0);
            connect(out_[round], table.at(after), table.at(after).in[round], path_mtu);
            out_[round].psns = verbs::PsnPredictor::of(out_[round].qp.get());
        }
    }

    /// 2. Data, and the flag behind it.
    void write(unsigned round, ibv_sge piece, std::uint64_t va, std::uint32_t rkey,
               std::uint32_t notice) {
        Queue& queue = out_.at(round);
        ibv_send_wr wr{};
        wr.wr_id = inbox_.begin_send(queue.end.qpn);
        wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.sg_list = &piece;
        wr.num_sge = 1;
        wr.imm_data = htonl(notice);
        wr.wr.rdma.remote_addr = va;
        wr.wr.rdma.rkey = rkey;
        log_.event("post_send",
                   verbs::describe(*queue.qp, wr, queue.psns->take(wr.opcode, piece.length)));
        ibv_send_wr* refused = nullptr;
        util::check_rc(ibv_post_send(queue.qp.get(), &wr, &refused), "ibv_post_send");
    }

  private:
    struct Queue {
        verbs::Qp qp;
        End end;
        std::optional<verbs::PsnPredictor> psns{};
    };

    // Two barriers may be under way at once; and in the ring the rank behind may be all of a lap
    // ahead.
    unsigned receives_of(unsigned round) const { return round == 0 ? 2 + steps_of(ranks_) : 2; }

    Queue make(unsigned receives) {
        ibv_qp_init_attr attributes{};
        attributes.qp_type = IBV_QPT_RC;
        attributes.send_cq = port_.cq;
        attributes.recv_cq = port_.cq;
        attributes.cap = {.max_send_wr = 2,
                          .max_recv_wr = receives,
                          .max_send_sge = 1,
                          .max_recv_sge = 1,
                          .max_inline_data = 0};
        Queue queue{
            .qp = verbs::Qp{util::check_ptr(ibv_create_qp(port_.pd, &attributes), "ibv_create_qp")},
            .end = {.psn = step07::random_psn()}};
        queue.end.qpn = queue.qp->qp_num;
        log_.event("qp", verbs::describe(*queue.qp, attributes.cap));
        log_.event("psn",
                   {{"qpn", queue.end.qpn}, {"psn", queue.end.psn}, {"source", "RAND_bytes"}});
        return queue;
    }

    void connect(const Queue& queue, const Record& record, const End& end, std::uint16_t path_mtu) {
        verbs::RcPeer peer{.qpn = end.qpn, .psn = end.psn};
        std::memcpy(peer.gid.raw, record.gid.data(), record.gid.size());
        verbs::to_rtr(queue.qp.get(), port_.gid, peer, std::min(path_mtu, record.path_mtu));
        verbs::to_rts(queue.qp.get(), queue.end.psn);
        log_.event("qp_state", verbs::query_state(queue.qp.get()));
    }

    std::uint16_t rank_, ranks_;
    Port port_;
    Inbox& inbox_;
    runlog::Log& log_;
    std::vector<Queue> out_, in_;
};

}  // namespace step17
