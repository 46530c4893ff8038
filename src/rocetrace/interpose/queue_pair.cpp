#include "rocetrace/interpose/queue_pair.hpp"

#include <algorithm>
#include <bit>

#include "rdma/names.hpp"
#include "rdma/psn_count.hpp"
#include "rocetrace/interpose/arena.hpp"

namespace interpose {
namespace {

// Copies the members of ibv_qp_attr that `mask` names; the others do not change.
void take_attributes(ibv_qp_attr& to, const ibv_qp_attr& from, int mask) {
    const auto take = [&](int bit, auto member) {
        if ((mask & bit) != 0)
            to.*member = from.*member;
    };
    take(IBV_QP_STATE, &ibv_qp_attr::qp_state);
    take(IBV_QP_ACCESS_FLAGS, &ibv_qp_attr::qp_access_flags);
    take(IBV_QP_PKEY_INDEX, &ibv_qp_attr::pkey_index);
    take(IBV_QP_PORT, &ibv_qp_attr::port_num);
    take(IBV_QP_QKEY, &ibv_qp_attr::qkey);
    take(IBV_QP_AV, &ibv_qp_attr::ah_attr);
    take(IBV_QP_PATH_MTU, &ibv_qp_attr::path_mtu);
    take(IBV_QP_TIMEOUT, &ibv_qp_attr::timeout);
    take(IBV_QP_RETRY_CNT, &ibv_qp_attr::retry_cnt);
    take(IBV_QP_RNR_RETRY, &ibv_qp_attr::rnr_retry);
    take(IBV_QP_RQ_PSN, &ibv_qp_attr::rq_psn);
    take(IBV_QP_MAX_QP_RD_ATOMIC, &ibv_qp_attr::max_rd_atomic);
    take(IBV_QP_MIN_RNR_TIMER, &ibv_qp_attr::min_rnr_timer);
    take(IBV_QP_SQ_PSN, &ibv_qp_attr::sq_psn);
    take(IBV_QP_MAX_DEST_RD_ATOMIC, &ibv_qp_attr::max_dest_rd_atomic);
    take(IBV_QP_DEST_QPN, &ibv_qp_attr::dest_qp_num);
}

}  // namespace

bool TracedQueuePair::take_psns(ibv_wr_opcode opcode, std::uint64_t length, std::uint32_t& first,
                                std::uint32_t& last) {
    // In ERR a request is flushed: no packet of it is sent (IBTA volume 1, 10.3.1).
    if (!knows_psn || state == IBV_QPS_ERR)
        return false;
    // A datagram is one packet. Without a path MTU, any request counts as one.
    const std::uint32_t count =
        type == IBV_QPT_UD || path_mtu == 0
            ? static_cast<std::uint32_t>(opcode != IBV_WR_LOCAL_INV && opcode != IBV_WR_BIND_MW)
            : rdma::psn_count(opcode, length, path_mtu);
    if (count == 0)
        return false;
    first = next_psn;
    last = (next_psn + count - 1) & rdma::psn_mask;
    next_psn = (next_psn + count) & rdma::psn_mask;
    return true;
}

void TracedQueuePair::modified(const ibv_qp_attr& attr, int mask) {
    if ((mask & IBV_QP_STATE) != 0) {
        state = attr.qp_state;
        if (state == IBV_QPS_RESET) {
            // No earlier state is left (IBTA volume 1, 10.3.1).
            knows_psn = false;
            path_mtu = 0;
            known = 0;
            sends.clear();
            receives.clear();
        }
    }
    take_attributes(attributes, attr, mask);
    known |= mask;
    if ((mask & IBV_QP_PATH_MTU) != 0)
        path_mtu = rdma::bytes_of(attr.path_mtu);
    if ((mask & IBV_QP_SQ_PSN) != 0) {
        next_psn = attr.sq_psn & rdma::psn_mask;
        knows_psn = type != IBV_QPT_RAW_PACKET && type != IBV_QPT_DRIVER;
    }
}

namespace {

Lock retired_lock;
TracedQueuePair* retired = nullptr;
TracedQueuePair* made_last = nullptr;

TracedQueuePair* take_retired_or_new() {
    const Guard guard(retired_lock);
    TracedQueuePair* pair = retired;
    if (pair != nullptr) {
        retired = pair->next_free;
        return pair;
    }
    pair = make<TracedQueuePair>();
    if (pair != nullptr) {
        pair->next_made = made_last;
        made_last = pair;
    }
    return pair;
}

// Resets all but the lock, which a poll may hold. A thread that destroys the queue pair between
// wr_start and wr_complete leaves the other one locked.
void renew(TracedQueuePair& pair) {
    pair.context = nullptr;
    pair.qp = nullptr;
    pair.qpn = 0;
    pair.state = IBV_QPS_RESET;
    pair.path_mtu = 0;
    pair.knows_psn = false;
    pair.last_ns = 0;
    pair.known = 0;
    pair.sends.clear();
    pair.receives.clear();
    pair.sends.free_room();
    pair.receives.free_room();
    give_memory(pair.batch, pair.batch_room * sizeof(tracelog::PostSend));
    pair.batch = nullptr;
    pair.batch_room = pair.batch_size = 0;
    pair.batch_owner.store(nullptr);
    pair.batch_lock.reset();
}

}  // namespace

TracedQueuePair* make_queue_pair(std::uint32_t max_send_wr, std::uint32_t max_recv_wr,
                                 bool extended) {
    TracedQueuePair* pair = take_retired_or_new();
    if (pair == nullptr)
        return nullptr;
    bool complete = pair->sends.make_room(max_send_wr) && pair->receives.make_room(max_recv_wr);
    if (complete && extended) {
        pair->batch_room = std::bit_ceil(std::clamp(max_send_wr, 1U, Outstanding::most));
        pair->batch = static_cast<tracelog::PostSend*>(
            take_memory(pair->batch_room * sizeof(tracelog::PostSend)));
        complete = pair->batch != nullptr;
    }
    if (complete)
        return pair;
    retire_queue_pair(pair);
    return nullptr;
}

void retire_queue_pair(TracedQueuePair* pair) {
    {
        const Guard guard(pair->lock);
        renew(*pair);
    }
    const Guard guard(retired_lock);
    pair->next_free = retired;
    retired = pair;
}

void reset_queue_pair_locks() {
    retired_lock.reset();
    for (TracedQueuePair* pair = made_last; pair != nullptr; pair = pair->next_made) {
        pair->lock.reset();
        pair->batch_owner.store(nullptr);
        pair->batch_lock.reset();
    }
}

}  // namespace interpose
