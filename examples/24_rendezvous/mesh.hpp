// Lesson 24: the queue pairs between ranks: for each round one to the rank 2^round after this one,
// and one from the rank 2^round before. Those of round 0 form the ring. The table describes the
// peers.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "examples/07_secure_psn/random_psn.hpp"
#include "examples/common/rc_states.hpp"
#include "flags.hpp"
#include "rdma/device.hpp"
#include "record.hpp"
#include "runlog/log.hpp"

namespace lesson24 {

/// The device and the objects for a rank's queue pairs.
struct Port {
    ibv_context* context;
    ibv_pd* pd;
    ibv_cq* cq;
    rdma::Gid gid;
};

class Mesh {
  public:
    Mesh(std::uint16_t rank, std::uint16_t ranks, const Port& port, Flags& flags, runlog::Log& log)
        : rank_(rank),
          ranks_(ranks),
          port_(port),
          path_mtu_(rdma::bytes_of(rdma::query_port(port.context, port.gid.port).active_mtu)),
          flags_(flags) {
        for (unsigned round = 0; round < rounds_of(ranks); ++round) {
            out_.push_back(make(1, log));
            in_.push_back(make(receives_of(round), log));
        }
    }

    /// 1. Fills in what the others must know of these queue pairs.
    void describe(Record& record) const {
        record.path_mtu = static_cast<std::uint16_t>(path_mtu_);
        std::memcpy(record.gid.data(), port_.gid.raw.raw, record.gid.size());
        for (std::size_t round = 0; round < out_.size(); ++round) {
            record.out[round] = out_[round].end;
            record.in[round] = in_[round].end;
        }
    }

    /// 2. Moves the queue pairs to RTS as in lesson 06, with the peers' data from the table. Receives
    /// can be posted from INIT on, packets arrive from RTR on: the receives are posted first.
    void connect(const std::vector<Record>& table) {
        for (unsigned round = 0; round < out_.size(); ++round) {
            const Record& before = table.at(rank_before(rank_, round, ranks_));
            connect(in_[round], before, before.out[round], IBV_ACCESS_REMOTE_WRITE,
                    receives_of(round));
            const Record& after = table.at(rank_after(rank_, round, ranks_));
            connect(out_[round], after, after.in[round], 0, 0);
        }
    }

    /// Returns the queue pair to the rank 2^round after this one.
    ibv_qp* out(unsigned round) const { return out_.at(round).qp.get(); }

  private:
    struct Queue {
        rdma::Qp qp;
        End end;
    };

    // Two barriers may be in progress, and in the ring the previous rank may be a full lap ahead.
    unsigned receives_of(unsigned round) const { return round == 0 ? 2 + steps_of(ranks_) : 2; }

    Queue make(unsigned receives, runlog::Log& log) const {
        ibv_qp_init_attr init{.send_cq = port_.cq,
                              .recv_cq = port_.cq,
                              .cap = {.max_send_wr = 2,
                                      .max_recv_wr = receives,
                                      .max_send_sge = 1,
                                      .max_recv_sge = 1},
                              .qp_type = IBV_QPT_RC};
        rdma::Qp qp{CHECK_PTR(ibv_create_qp(port_.pd, &init))};
        const End end{.qpn = qp->qp_num, .psn = lesson07::random_psn()};
        log.event("psn", {{"qpn", end.qpn}, {"psn", end.psn}, {"source", "RAND_bytes"}});
        return {std::move(qp), end};
    }

    void connect(const Queue& queue, const Record& record, const End& end, int access,
                 unsigned receives) {
        common::RcPeer peer{.qpn = end.qpn, .psn = end.psn};
        std::memcpy(peer.gid.raw, record.gid.data(), record.gid.size());
        common::to_init(queue.qp.get(), port_.gid.port, access);
        flags_.add(queue.qp.get(), record.rank, receives);
        common::to_rtr(queue.qp.get(), port_.gid, peer,
                       std::min<unsigned>(path_mtu_, record.path_mtu));
        common::to_rts(queue.qp.get(), queue.end.psn);
    }

    std::uint16_t rank_, ranks_;
    Port port_;
    unsigned path_mtu_;  // bytes
    Flags& flags_;
    std::vector<Queue> out_, in_;
};

}  // namespace lesson24
