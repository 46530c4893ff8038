// ibv_post_send, ibv_post_recv, ibv_post_srq_recv: the data path of the first interface.
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>

#include "rocetrace/interpose/context.hpp"
#include "rocetrace/interpose/sink.hpp"
#include "rocetrace/tracelog/wr_kind.hpp"

namespace interpose {
namespace {

using tracelog::Category;
using tracelog::Kind;
using tracelog::PostRecv;
using tracelog::PostSend;

std::uint64_t length_of(const ibv_sge* list, int count) {
    std::uint64_t length = 0;
    for (int i = 0; i < count; ++i)
        length += list[i].length;
    return length;
}

void fill_target(PostSend& record, const QueuePair& pair, const ibv_send_wr& wr) {
    if (pair.type == IBV_QPT_UD) {
        record.header.flags |= PostSend::is_ud;
        record.remote_va = (std::uint64_t{wr.wr.ud.remote_qpn} << 32U) | wr.wr.ud.remote_qkey;
        record.compare_add = reinterpret_cast<std::uintptr_t>(wr.wr.ud.ah);
    } else if (tracelog::is_atomic(wr.opcode)) {
        record.remote_va = wr.wr.atomic.remote_addr;
        record.rkey = wr.wr.atomic.rkey;
        record.compare_add = wr.wr.atomic.compare_add;
        record.swap = wr.wr.atomic.swap;
    } else {
        record.remote_va = wr.wr.rdma.remote_addr;
        record.rkey = wr.wr.rdma.rkey;
    }
    if (pair.type == IBV_QPT_XRC_SEND) {
        record.header.flags |= PostSend::is_xrc;
        record.srqn = wr.qp_type.xrc.remote_srqn;
    }
}

void fill(PostSend& record, const QueuePair& pair, const ibv_send_wr& wr, std::int64_t t_ns) {
    const bool is_long =
        tracelog::is_atomic(wr.opcode) || pair.type == IBV_QPT_UD || pair.type == IBV_QPT_XRC_SEND;
    record.header = {is_long ? std::uint32_t{sizeof record} : PostSend::short_size, Kind::post_send,
                     0, t_ns};
    record.wr_id = wr.wr_id;
    record.qpn = pair.qpn;
    record.len = static_cast<std::uint32_t>(length_of(wr.sg_list, wr.num_sge));
    record.imm = wr.opcode == IBV_WR_SEND_WITH_INV || wr.opcode == IBV_WR_LOCAL_INV
                     ? wr.invalidate_rkey
                     : ntohl(wr.imm_data);
    record.rkey = 0;
    record.opcode = wr.opcode;
    fill_target(record, pair, wr);
    if (pair.signals_all || (wr.send_flags & IBV_SEND_SIGNALED) != 0)
        record.header.flags |= PostSend::is_signaled;
    if ((wr.send_flags & IBV_SEND_INLINE) != 0)
        record.header.flags |= PostSend::is_inline;
}

// The number of requests before `bad`, in a list of which some were rejected.
template <typename Wr>
unsigned count_before(const Wr* list, const Wr* bad) {
    unsigned count = 0;
    for (; list != nullptr && list != bad; list = list->next)
        ++count;
    return list == nullptr ? 0 : count;
}

// The records of a list are written before it is posted: before the post returns, a completion may
// arrive and the program may reuse the list's memory. The records of accepted requests are
// published afterwards.
class Batch {
  public:
    Batch(QueuePair& pair, ThreadSink& thread, Category category)
        : pair_(pair),
          thread_(thread),
          writes_(wants(category) && thread.has_ring),
          begin_(thread.ring.end()),
          next_psn_(pair.next_psn),
          sends_(pair.sends.head),
          receives_(pair.receives.head) {}

    void add(const ibv_send_wr& wr, std::int64_t t_ns) {
        PostSend record;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
        fill(record, pair_, wr, t_ns);
        record.request = pair_.sends.head;
        if (pair_.take_psns(wr.opcode, record.len, record.psn_first, record.psn_last))
            record.header.flags |= PostSend::has_psns;
        pair_.sends.push({wr.wr_id, (record.header.flags & PostSend::is_signaled) != 0});
        write(&record, record.header.size);
    }
    void add(const ibv_recv_wr& wr, std::int64_t t_ns) {
        const PostRecv record{{sizeof record, Kind::post_recv, 0, t_ns},
                              wr.wr_id,
                              pair_.qpn,
                              static_cast<std::uint32_t>(length_of(wr.sg_list, wr.num_sge))};
        pair_.receives.push({wr.wr_id});
        write(&record, sizeof record);
    }
    void commit() {
        if (!writes_)
            return;
        thread_.ring.publish();
        if (dropped_ != 0)
            thread_.ring.drop(dropped_);
    }
    void undo() {
        thread_.ring.rewind(begin_);
        pair_.next_psn = next_psn_;
        pair_.sends.head = sends_;
        pair_.receives.head = receives_;
        dropped_ = 0;
    }

  private:
    void write(const void* record, std::uint32_t size) {
        if (writes_ && !thread_.ring.put(record, size))
            ++dropped_;
    }

    QueuePair& pair_;
    ThreadSink& thread_;
    bool writes_;
    std::uint64_t begin_;
    std::uint64_t dropped_ = 0;
    std::uint32_t next_psn_, sends_, receives_;
};

template <typename Wr>
void log_refusal(const char* call, std::uint32_t qpn, const Wr* bad, int error) {
    tracelog::EventWriter event = failure(call, error);
    event.add("qpn", qpn);
    if (bad != nullptr)
        event.add("wr_id", bad->wr_id);
    log(event);
}

template <typename Wr, typename Post>
int trace(QueuePair& pair, ThreadSink& thread, const char* call, Category category, Wr* list,
          Wr** bad, Post post) {
    const PairGuard guard(pair, &thread);
    const Inside inside(thread);
    const std::int64_t t_ns = pair.last_ns = std::max(thread.clock.read(), pair.last_ns + 1);
    Batch batch(pair, thread, category);
    for (const Wr* wr = list; wr != nullptr; wr = wr->next)
        batch.add(*wr, t_ns);
    const int rc = post();
    if (rc == 0) {
        batch.commit();
        return rc;
    }
    const int error = errno;
    batch.undo();
    unsigned taken = count_before(list, *bad);
    for (const Wr* wr = list; wr != nullptr && taken > 0; --taken, wr = wr->next)
        batch.add(*wr, t_ns);
    batch.commit();
    log_refusal(call, pair.qpn, *bad, rc);
    errno = error;
    return rc;
}

}  // namespace

int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
    const Context& context = *contexts.find(qp->context);
    ThreadSink& thread = sink();
    QueuePair* pair = thread.depth == 0 ? queue_pairs.find(qp) : nullptr;
    if (pair == nullptr)
        return context.ops.post_send(qp, wr, bad_wr);
    return trace(*pair, thread, "ibv_post_send", Category::send, wr, bad_wr,
                 [&] { return context.ops.post_send(qp, wr, bad_wr); });
}

int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
    const Context& context = *contexts.find(qp->context);
    ThreadSink& thread = sink();
    QueuePair* pair = thread.depth == 0 ? queue_pairs.find(qp) : nullptr;
    if (pair == nullptr)
        return context.ops.post_recv(qp, wr, bad_wr);
    return trace(*pair, thread, "ibv_post_recv", Category::recv, wr, bad_wr,
                 [&] { return context.ops.post_recv(qp, wr, bad_wr); });
}

int post_srq_recv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
    const Context& context = *contexts.find(srq->context);
    ThreadSink& thread = sink();
    if (thread.depth != 0 || !thread.has_ring || !wants(Category::recv))
        return context.ops.post_srq_recv(srq, wr, bad_wr);
    const std::int64_t t_ns = thread.clock.read();
    const std::uint64_t begin = thread.ring.end();
    std::uint64_t dropped = 0;
    const auto add = [&](const ibv_recv_wr& added) {
        const PostRecv record{{sizeof record, Kind::post_recv, PostRecv::is_srq, t_ns},
                              added.wr_id,
                              srq->handle,
                              static_cast<std::uint32_t>(length_of(added.sg_list, added.num_sge))};
        if (!thread.ring.put(&record, sizeof record))
            ++dropped;
    };
    for (const ibv_recv_wr* each = wr; each != nullptr; each = each->next)
        add(*each);
    const Inside inside(thread);
    const int rc = context.ops.post_srq_recv(srq, wr, bad_wr);
    const int error = errno;
    if (rc != 0) {
        thread.ring.rewind(begin);
        dropped = 0;
        unsigned taken = count_before(wr, *bad_wr);
        for (const ibv_recv_wr* each = wr; each != nullptr && taken > 0; --taken, each = each->next)
            add(*each);
    }
    thread.ring.publish();
    if (dropped != 0)
        thread.ring.drop(dropped);
    if (rc != 0)
        log(failure("ibv_post_srq_recv", rc).add("srq", srq->handle));
    errno = error;
    return rc;
}

}  // namespace interpose
