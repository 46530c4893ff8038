// The ibv_wr_* interface: a batch is built by calls between wr_start and wr_complete.
#include <arpa/inet.h>
#include <cerrno>
#include <span>

#include "rocetrace/interpose/context.hpp"
#include "rocetrace/interpose/posting.hpp"
#include "rocetrace/interpose/sink.hpp"

namespace interpose {
namespace {

using tracelog::PostSend;

TracedQueuePair& pair_of(ibv_qp_ex* qp) {
    return *queue_pairs.find(&qp->qp_base);
}

// The program sets wr_id and wr_flags before it begins a request.
PostSend& begin(ibv_qp_ex* qp, ibv_wr_opcode opcode) {
    TracedQueuePair& pair = pair_of(qp);
    // A batch has no more requests than the send queue; otherwise the provider rejects it.
    const std::uint32_t index =
        pair.batch_size < pair.batch_room ? pair.batch_size++ : pair.batch_room - 1;
    PostSend& record = pair.batch[index];
    begin_record(record, pair, qp->wr_id, opcode, qp->wr_flags);
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
    TracedQueuePair& pair = pair_of(qp);
    return pair.batch[pair.batch_size == 0 ? 0 : pair.batch_size - 1];
}

void make_long(PostSend& record) {
    record.header.flags |= PostSend::is_long;
}

void add_entry(PostSend& record, std::uint64_t address, std::size_t length, std::uint32_t lkey) {
    const auto bytes = static_cast<std::uint32_t>(length);
    record.sges.add(record.header, {address, bytes, lkey});
    record.len += bytes;
}

// Inline data needs no lkey.
void add_inline(PostSend& record, const void* address, std::size_t length) {
    record.send_flags |= IBV_SEND_INLINE;
    add_entry(record, address_of(address), length, 0);
}

// Polls and ibv_modify_qp() do not wait for the end of a batch, as they do not for the provider.
void start(ibv_qp_ex* qp) {
    TracedQueuePair& pair = pair_of(qp);
    const ThreadSink* thread = &sink();
    if (pair.batch_owner.load() != thread)
        pair.batch_lock.lock();
    pair.batch_owner.store(thread);
    pair.batch_size = 0;
    pair.real.wr_start(qp);
}

void end_batch(TracedQueuePair& pair) {
    pair.batch_size = 0;
    pair.batch_owner.store(nullptr);
    pair.batch_lock.unlock();
}

// The provider does not tell which request of the batch it refused: the event has the first one.
void log_refusal(const TracedQueuePair& pair, int error) {
    EventWriter<"failed"> event = refusal(pair, "ibv_wr_complete", error);
    event.add(key::sends_outstanding, pair.sends.count()).add(key::requests, pair.batch_size);
    if (pair.batch_size != 0)
        add_fields(event, pair.batch[0]);
    log(event);
}

int complete(ibv_qp_ex* qp) {
    TracedQueuePair& pair = pair_of(qp);
    ThreadSink& thread = sink();
    pair.lock.lock();
    Posting posting(pair, thread, Category::send);
    for (std::uint32_t i = 0; i < pair.batch_size; ++i)
        posting.add(pair.batch[i]);
    posting.announce();
    const int rc = pair.real.wr_complete(qp);
    const int error = errno;
    if (rc == 0) {
        posting.accept();
    } else {
        posting.take_back();
        log_refusal(pair, rc);
    }
    pair.lock.unlock();
    end_batch(pair);
    errno = error;
    return rc;
}

void abort(ibv_qp_ex* qp) {
    TracedQueuePair& pair = pair_of(qp);
    pair.real.wr_abort(qp);
    end_batch(pair);
}

template <typename Function>
void replace(Function& function, Function own) {
    if (function != nullptr)
        function = own;
}

template <auto Function>
struct Replacement;

template <typename... Arguments, void (*ibv_qp_ex::*Function)(ibv_qp_ex*, Arguments...)>
struct Replacement<Function> {
    template <typename Note>
    static void call(ibv_qp_ex* qp, Arguments... arguments) {
        Note()(qp, arguments...);
        (pair_of(qp).real.*Function)(qp, arguments...);
    }
};

// Replaces the provider's function by one that first calls `note` with the same arguments.
template <auto Function, typename Note>
void replace(ibv_qp_ex& qp, Note /*note*/) {
    replace(qp.*Function, &Replacement<Function>::template call<Note>);
}

// The headers of Debian 12 have no wr_flush.
template <typename Ex>
void replace_flush(Ex& qp) {
    if constexpr (requires { qp.wr_flush; })
        replace<&Ex::wr_flush>(
            qp, [](Ex* of, std::uint32_t rkey, std::uint64_t remote_addr, std::size_t length,
                   std::uint8_t /*type*/, std::uint8_t /*level*/) {
                begin_remote(of, rdma::wr_flush, rkey, remote_addr).len =
                    static_cast<std::uint32_t>(length);
            });
}

}  // namespace

void replace_extended(ibv_qp_ex& qp) {
    using Ex = ibv_qp_ex;
    replace<&Ex::wr_atomic_cmp_swp>(qp, [](Ex* of, std::uint32_t rkey, std::uint64_t remote_addr,
                                           std::uint64_t compare, std::uint64_t swap) {
        PostSend& record = begin_remote(of, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr);
        make_long(record);
        record.compare_add = compare;
        record.swap = swap;
    });
    replace<&Ex::wr_atomic_fetch_add>(
        qp, [](Ex* of, std::uint32_t rkey, std::uint64_t remote_addr, std::uint64_t add) {
            PostSend& record = begin_remote(of, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr);
            make_long(record);
            record.compare_add = add;
        });
    replace<&Ex::wr_bind_mw>(
        qp, [](Ex* of, ibv_mw* /*mw*/, std::uint32_t rkey, const ibv_mw_bind_info* /*info*/) {
            begin(of, IBV_WR_BIND_MW).rkey = rkey;
        });
    replace<&Ex::wr_local_inv>(
        qp, [](Ex* of, std::uint32_t rkey) { begin(of, IBV_WR_LOCAL_INV).imm = rkey; });
    replace<&Ex::wr_rdma_read>(qp, [](Ex* of, std::uint32_t rkey, std::uint64_t remote_addr) {
        begin_remote(of, IBV_WR_RDMA_READ, rkey, remote_addr);
    });
    replace<&Ex::wr_rdma_write>(qp, [](Ex* of, std::uint32_t rkey, std::uint64_t remote_addr) {
        begin_remote(of, IBV_WR_RDMA_WRITE, rkey, remote_addr);
    });
    replace<&Ex::wr_rdma_write_imm>(
        qp, [](Ex* of, std::uint32_t rkey, std::uint64_t remote_addr, __be32 imm) {
            begin_remote(of, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr).imm = ntohl(imm);
        });
    replace<&Ex::wr_atomic_write>(
        qp, [](Ex* of, std::uint32_t rkey, std::uint64_t remote_addr, const void* /*value*/) {
            begin_remote(of, IBV_WR_ATOMIC_WRITE, rkey, remote_addr).len = 8;
        });
    replace_flush(qp);
    replace<&Ex::wr_send>(qp, [](Ex* of) { begin(of, IBV_WR_SEND); });
    replace<&Ex::wr_send_imm>(
        qp, [](Ex* of, __be32 imm) { begin(of, IBV_WR_SEND_WITH_IMM).imm = ntohl(imm); });
    replace<&Ex::wr_send_inv>(
        qp, [](Ex* of, std::uint32_t rkey) { begin(of, IBV_WR_SEND_WITH_INV).imm = rkey; });
    replace<&Ex::wr_send_tso>(
        qp, [](Ex* of, void* /*header*/, std::uint16_t header_bytes, std::uint16_t /*mss*/) {
            begin(of, IBV_WR_TSO).len = header_bytes;
        });
    replace<&Ex::wr_set_ud_addr>(
        qp, [](Ex* of, ibv_ah* ah, std::uint32_t remote_qpn, std::uint32_t q_key) {
            PostSend& record = present(of);
            make_long(record);
            record.remote_va = (std::uint64_t{remote_qpn} << 32U) | q_key;
            record.compare_add = address_of(ah);
        });
    replace<&Ex::wr_set_xrc_srqn>(qp, [](Ex* of, std::uint32_t remote_srqn) {
        PostSend& record = present(of);
        make_long(record);
        record.header.flags |= PostSend::is_xrc;
        record.srqn = remote_srqn;
    });
    replace<&Ex::wr_set_inline_data>(qp, [](Ex* of, void* address, std::size_t length) {
        add_inline(present(of), address, length);
    });
    replace<&Ex::wr_set_inline_data_list>(
        qp, [](Ex* of, std::size_t count, const ibv_data_buf* list) {
            for (const ibv_data_buf& part : std::span(list, count))
                add_inline(present(of), part.addr, part.length);
        });
    replace<&Ex::wr_set_sge>(
        qp, [](Ex* of, std::uint32_t lkey, std::uint64_t address, std::uint32_t length) {
            add_entry(present(of), address, length, lkey);
        });
    replace<&Ex::wr_set_sge_list>(qp, [](Ex* of, std::size_t count, const ibv_sge* list) {
        for (const ibv_sge& part : std::span(list, count))
            add_entry(present(of), part.addr, part.length, part.lkey);
    });
    replace(qp.wr_start, &start);
    replace(qp.wr_complete, &complete);
    replace(qp.wr_abort, &abort);
}

}  // namespace interpose
