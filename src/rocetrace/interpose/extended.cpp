// The ibv_wr_* interface: a batch is built by calls between wr_start and wr_complete.
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>

#include "rocetrace/interpose/context.hpp"
#include "rocetrace/interpose/sink.hpp"

namespace interpose {
namespace {

using tracelog::Kind;
using tracelog::PostSend;

QueuePair& pair_of(ibv_qp_ex* qp) {
    return *queue_pairs.find(&qp->qp_base);
}

// The program sets wr_id and wr_flags before it begins a request.
PostSend& begin(ibv_qp_ex* qp, ibv_wr_opcode opcode) {
    QueuePair& pair = pair_of(qp);
    // A batch has no more requests than the send queue; otherwise the provider rejects it.
    const std::uint32_t index =
        pair.batch_size < pair.batch_room ? pair.batch_size++ : pair.batch_room - 1;
    PostSend& record = pair.batch[index];
    record = PostSend{};
    record.header.kind = Kind::post_send;
    record.header.size = PostSend::short_size;
    record.wr_id = qp->wr_id;
    record.qpn = pair.qpn;
    record.opcode = opcode;
    if (pair.signals_all || (qp->wr_flags & IBV_SEND_SIGNALED) != 0)
        record.header.flags |= PostSend::is_signaled;
    if (pair.type == IBV_QPT_UD)
        record.header.flags |= PostSend::is_ud;
    return record;
}

PostSend& begin_remote(ibv_qp_ex* qp, ibv_wr_opcode opcode, std::uint32_t rkey,
                       std::uint64_t remote_addr) {
    PostSend& record = begin(qp, opcode);
    record.rkey = rkey;
    record.remote_va = remote_addr;
    return record;
}

// The request that was started last.
PostSend& present(ibv_qp_ex* qp) {
    QueuePair& pair = pair_of(qp);
    return pair.batch[pair.batch_size == 0 ? 0 : pair.batch_size - 1];
}

void make_long(PostSend& record) {
    record.header.size = sizeof record;
}

void atomic_cmp_swp(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote_addr,
                    std::uint64_t compare, std::uint64_t swap) {
    PostSend& record = begin_remote(qp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr);
    make_long(record);
    record.compare_add = compare;
    record.swap = swap;
    pair_of(qp).real.wr_atomic_cmp_swp(qp, rkey, remote_addr, compare, swap);
}

void atomic_fetch_add(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote_addr,
                      std::uint64_t add) {
    PostSend& record = begin_remote(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr);
    make_long(record);
    record.compare_add = add;
    pair_of(qp).real.wr_atomic_fetch_add(qp, rkey, remote_addr, add);
}

void bind_window(ibv_qp_ex* qp, ibv_mw* mw, std::uint32_t rkey, const ibv_mw_bind_info* info) {
    begin(qp, IBV_WR_BIND_MW).rkey = rkey;
    pair_of(qp).real.wr_bind_mw(qp, mw, rkey, info);
}

void local_inv(ibv_qp_ex* qp, std::uint32_t invalidate_rkey) {
    begin(qp, IBV_WR_LOCAL_INV).imm = invalidate_rkey;
    pair_of(qp).real.wr_local_inv(qp, invalidate_rkey);
}

void rdma_read(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote_addr) {
    begin_remote(qp, IBV_WR_RDMA_READ, rkey, remote_addr);
    pair_of(qp).real.wr_rdma_read(qp, rkey, remote_addr);
}

void rdma_write(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote_addr) {
    begin_remote(qp, IBV_WR_RDMA_WRITE, rkey, remote_addr);
    pair_of(qp).real.wr_rdma_write(qp, rkey, remote_addr);
}

void rdma_write_imm(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote_addr, __be32 imm) {
    begin_remote(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr).imm = ntohl(imm);
    pair_of(qp).real.wr_rdma_write_imm(qp, rkey, remote_addr, imm);
}

void atomic_write(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote_addr, const void* value) {
    begin_remote(qp, IBV_WR_ATOMIC_WRITE, rkey, remote_addr).len = 8;
    pair_of(qp).real.wr_atomic_write(qp, rkey, remote_addr, value);
}

void send(ibv_qp_ex* qp) {
    begin(qp, IBV_WR_SEND);
    pair_of(qp).real.wr_send(qp);
}

void send_imm(ibv_qp_ex* qp, __be32 imm) {
    begin(qp, IBV_WR_SEND_WITH_IMM).imm = ntohl(imm);
    pair_of(qp).real.wr_send_imm(qp, imm);
}

void send_inv(ibv_qp_ex* qp, std::uint32_t invalidate_rkey) {
    begin(qp, IBV_WR_SEND_WITH_INV).imm = invalidate_rkey;
    pair_of(qp).real.wr_send_inv(qp, invalidate_rkey);
}

void send_tso(ibv_qp_ex* qp, void* header, std::uint16_t header_bytes, std::uint16_t mss) {
    begin(qp, IBV_WR_TSO).len = header_bytes;
    pair_of(qp).real.wr_send_tso(qp, header, header_bytes, mss);
}

void set_ud_addr(ibv_qp_ex* qp, ibv_ah* ah, std::uint32_t remote_qpn, std::uint32_t q_key) {
    PostSend& record = present(qp);
    make_long(record);
    record.remote_va = (std::uint64_t{remote_qpn} << 32U) | q_key;
    record.compare_add = reinterpret_cast<std::uintptr_t>(ah);
    pair_of(qp).real.wr_set_ud_addr(qp, ah, remote_qpn, q_key);
}

void set_xrc_srqn(ibv_qp_ex* qp, std::uint32_t remote_srqn) {
    PostSend& record = present(qp);
    make_long(record);
    record.header.flags |= PostSend::is_xrc;
    record.srqn = remote_srqn;
    pair_of(qp).real.wr_set_xrc_srqn(qp, remote_srqn);
}

void set_inline_data(ibv_qp_ex* qp, void* address, std::size_t length) {
    PostSend& record = present(qp);
    record.header.flags |= PostSend::is_inline;
    record.len += static_cast<std::uint32_t>(length);
    pair_of(qp).real.wr_set_inline_data(qp, address, length);
}

void set_inline_data_list(ibv_qp_ex* qp, std::size_t count, const ibv_data_buf* list) {
    PostSend& record = present(qp);
    record.header.flags |= PostSend::is_inline;
    for (std::size_t i = 0; i < count; ++i)
        record.len += static_cast<std::uint32_t>(list[i].length);
    pair_of(qp).real.wr_set_inline_data_list(qp, count, list);
}

void set_sge(ibv_qp_ex* qp, std::uint32_t lkey, std::uint64_t address, std::uint32_t length) {
    present(qp).len += length;
    pair_of(qp).real.wr_set_sge(qp, lkey, address, length);
}

void set_sge_list(ibv_qp_ex* qp, std::size_t count, const ibv_sge* list) {
    PostSend& record = present(qp);
    for (std::size_t i = 0; i < count; ++i)
        record.len += list[i].length;
    pair_of(qp).real.wr_set_sge_list(qp, count, list);
}

// Holds the lock until wr_complete or wr_abort, as the provider holds its own.
void start(ibv_qp_ex* qp) {
    QueuePair& pair = pair_of(qp);
    pair.lock.lock();
    pair.batch_owner.store(&sink(), std::memory_order_relaxed);
    pair.batch_size = 0;
    pair.real.wr_start(qp);
}

void publish(QueuePair& pair, ThreadSink& thread, std::int64_t t_ns) {
    const bool writes = wants(tracelog::Category::send) && thread.has_ring;
    for (std::uint32_t i = 0; i < pair.batch_size; ++i) {
        PostSend& record = pair.batch[i];
        record.header.t_ns = t_ns;
        record.request = pair.sends.head;
        if (pair.take_psns(static_cast<ibv_wr_opcode>(record.opcode), record.len, record.psn_first,
                           record.psn_last))
            record.header.flags |= PostSend::has_psns;
        pair.sends.push({record.wr_id, (record.header.flags & PostSend::is_signaled) != 0});
        if (!writes)
            continue;
        void* place = thread.ring.reserve(record.header.size);
        if (place == nullptr)
            thread.ring.drop(1);
        else
            std::memcpy(place, &record, record.header.size);
    }
    if (writes)
        thread.ring.publish();
}

void end_batch(QueuePair& pair) {
    pair.batch_size = 0;
    pair.batch_owner.store(nullptr, std::memory_order_relaxed);
    pair.lock.unlock();
}

int complete(ibv_qp_ex* qp) {
    QueuePair& pair = pair_of(qp);
    ThreadSink& thread = sink();
    const std::int64_t t_ns = pair.last_ns = std::max(thread.clock.read(), pair.last_ns + 1);
    const int rc = pair.real.wr_complete(qp);
    const int error = errno;
    if (rc == 0)
        publish(pair, thread, t_ns);
    else
        log(failure("ibv_wr_complete", rc).add("qpn", pair.qpn));
    end_batch(pair);
    errno = error;
    return rc;
}

void abort(ibv_qp_ex* qp) {
    QueuePair& pair = pair_of(qp);
    pair.real.wr_abort(qp);
    end_batch(pair);
}

template <typename Function>
void replace(Function& function, Function own) {
    if (function != nullptr)
        function = own;
}

}  // namespace

void replace_extended(ibv_qp_ex& qp) {
    replace(qp.wr_atomic_cmp_swp, &atomic_cmp_swp);
    replace(qp.wr_atomic_fetch_add, &atomic_fetch_add);
    replace(qp.wr_bind_mw, &bind_window);
    replace(qp.wr_local_inv, &local_inv);
    replace(qp.wr_rdma_read, &rdma_read);
    replace(qp.wr_rdma_write, &rdma_write);
    replace(qp.wr_rdma_write_imm, &rdma_write_imm);
    replace(qp.wr_send, &send);
    replace(qp.wr_send_imm, &send_imm);
    replace(qp.wr_send_inv, &send_inv);
    replace(qp.wr_send_tso, &send_tso);
    replace(qp.wr_set_ud_addr, &set_ud_addr);
    replace(qp.wr_set_xrc_srqn, &set_xrc_srqn);
    replace(qp.wr_set_inline_data, &set_inline_data);
    replace(qp.wr_set_inline_data_list, &set_inline_data_list);
    replace(qp.wr_set_sge, &set_sge);
    replace(qp.wr_set_sge_list, &set_sge_list);
    replace(qp.wr_start, &start);
    replace(qp.wr_complete, &complete);
    replace(qp.wr_abort, &abort);
    replace(qp.wr_atomic_write, &atomic_write);
}

}  // namespace interpose
