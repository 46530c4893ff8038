// ibv_post_send, ibv_post_recv, ibv_post_srq_recv: the data path of the first interface.
#include <arpa/inet.h>
#include <cerrno>
#include <span>

#include "rocetrace/interpose/context.hpp"
#include "rocetrace/interpose/posting.hpp"
#include "rocetrace/interpose/sink.hpp"
#include "rocetrace/tracelog/wr_kind.hpp"

namespace interpose {
namespace {

using tracelog::Kind;
using tracelog::PostRecv;
using tracelog::PostSend;

// Takes the list's entries, and returns the sum of their lengths.
template <typename Record>
std::uint32_t take_list(Record& record, const ibv_sge* list, int count) {
    std::uint64_t length = 0;
    for (int i = 0; i < count; ++i) {
        record.sges.add(record.header, {list[i].addr, list[i].length, list[i].lkey});
        length += list[i].length;
    }
    return static_cast<std::uint32_t>(length);
}

void fill_target(PostSend& record, const TracedQueuePair& pair, const ibv_send_wr& wr) {
    if (pair.type == IBV_QPT_UD) {
        record.header.flags |= PostSend::is_long;
        record.remote_va = (std::uint64_t{wr.wr.ud.remote_qpn} << 32U) | wr.wr.ud.remote_qkey;
        record.compare_add = reinterpret_cast<std::uintptr_t>(wr.wr.ud.ah);
    } else if (tracelog::is_atomic(wr.opcode)) {
        record.header.flags |= PostSend::is_long;
        record.remote_va = wr.wr.atomic.remote_addr;
        record.rkey = wr.wr.atomic.rkey;
        record.compare_add = wr.wr.atomic.compare_add;
        record.swap = wr.wr.atomic.swap;
    } else {
        record.remote_va = wr.wr.rdma.remote_addr;
        record.rkey = wr.wr.rdma.rkey;
    }
    if (pair.type == IBV_QPT_XRC_SEND) {
        record.header.flags |= PostSend::is_long | PostSend::is_xrc;
        record.srqn = wr.qp_type.xrc.remote_srqn;
    }
}

PostSend record_of(const TracedQueuePair& pair, const ibv_send_wr& wr) {
    PostSend record;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
    begin_record(record, pair, wr.wr_id, wr.opcode, wr.send_flags);
    record.len = take_list(record, wr.sg_list, wr.num_sge);
    record.imm = wr.opcode == IBV_WR_SEND_WITH_INV || wr.opcode == IBV_WR_LOCAL_INV
                     ? wr.invalidate_rkey
                     : ntohl(wr.imm_data);
    fill_target(record, pair, wr);
    return record;
}

void add(Posting& posting, const TracedQueuePair& pair, const ibv_send_wr& wr) {
    PostSend record = record_of(pair, wr);
    posting.add(record);
}

// The number of requests before `bad`, in a list of which some were rejected.
template <typename Wr>
unsigned count_before(const Wr* list, const Wr* bad) {
    unsigned count = 0;
    for (; list != nullptr && list != bad; list = list->next)
        ++count;
    return list == nullptr ? 0 : count;
}

// The receive's record.
PostRecv record_of(const ibv_recv_wr& wr, std::uint32_t queue, std::uint16_t flags,
                   std::int64_t t_ns) {
    PostRecv record;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled here
    record.header = {0, Kind::post_recv, flags, t_ns};
    record.wr_id = wr.wr_id;
    record.queue = queue;
    record.len = take_list(record, wr.sg_list, wr.num_sge);
    return record;
}

void add(Posting& posting, const TracedQueuePair& pair, const ibv_recv_wr& wr) {
    PostRecv record = record_of(wr, pair.qpn, 0, 0);
    posting.add(record);
}

void log_refusal(const TracedQueuePair& pair, const char* call, const ibv_send_wr* bad, int error) {
    EventWriter<"failed"> event = refusal(pair, call, error);
    event.add(key::sends_outstanding, pair.sends.count());
    if (bad != nullptr)
        add_fields(event, record_of(pair, *bad));
    log(event);
}

void log_refusal(const TracedQueuePair& pair, const char* call, const ibv_recv_wr* bad, int error) {
    EventWriter<"failed"> event = refusal(pair, call, error);
    event.add(key::receives_outstanding, pair.receives.count());
    if (bad != nullptr)
        add_fields(event, record_of(*bad, 0, 0, 0));
    log(event);
}

// The queue pair's lock is held.
template <typename Wr, typename Post>
int trace(TracedQueuePair& pair, ThreadSink& thread, const char* call, Category category, Wr* list,
          Wr** bad, Post post) {
    const Inside inside(thread);
    Posting posting(pair, thread, category);
    for (const Wr* wr = list; wr != nullptr; wr = wr->next)
        add(posting, pair, *wr);
    posting.announce();
    const int rc = post();
    if (rc == 0) {
        posting.accept();
        return rc;
    }
    const int error = errno;
    posting.take_back();
    unsigned taken = count_before(list, *bad);
    for (const Wr* wr = list; wr != nullptr && taken > 0; --taken, wr = wr->next)
        add(posting, pair, *wr);
    posting.accept();
    log_refusal(pair, call, *bad, rc);
    errno = error;
    return rc;
}

}  // namespace

int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
    const Context& context = *contexts.find(qp->context);
    ThreadSink& thread = sink();
    TracedQueuePair* pair = thread.depth == 0 ? queue_pairs.find(qp) : nullptr;
    if (pair == nullptr)
        return context.ops.post_send(qp, wr, bad_wr);
    const SendGuard guard(*pair, &thread);
    return trace(*pair, thread, "ibv_post_send", Category::send, wr, bad_wr,
                 [&] { return context.ops.post_send(qp, wr, bad_wr); });
}

int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
    const Context& context = *contexts.find(qp->context);
    ThreadSink& thread = sink();
    TracedQueuePair* pair = thread.depth == 0 ? queue_pairs.find(qp) : nullptr;
    if (pair == nullptr)
        return context.ops.post_recv(qp, wr, bad_wr);
    const Guard guard(pair->lock);
    return trace(*pair, thread, "ibv_post_recv", Category::recv, wr, bad_wr,
                 [&] { return context.ops.post_recv(qp, wr, bad_wr); });
}

int post_srq_recv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
    const Context& context = *contexts.find(srq->context);
    ThreadSink& thread = sink();
    if (thread.depth != 0 || !wants(Category::recv))
        return context.ops.post_srq_recv(srq, wr, bad_wr);
    const std::int64_t t_ns = thread.clock.read();
    const std::uint64_t begin = thread.ring.end();
    std::uint64_t dropped = 0;
    const auto add = [&](const ibv_recv_wr& added) {
        PostRecv record = record_of(added, srq->handle, PostRecv::is_srq, t_ns);
        if (!thread.has_ring || !thread.ring.put_post(record))
            ++dropped;
    };
    for (const ibv_recv_wr* each = wr; each != nullptr; each = each->next)
        add(*each);
    const Inside inside(thread);
    if (thread.has_ring)
        thread.ring.announce();
    const int rc = context.ops.post_srq_recv(srq, wr, bad_wr);
    const int error = errno;
    if (rc != 0) {
        thread.ring.rewind(begin);
        dropped = 0;
        unsigned taken = count_before(wr, *bad_wr);
        for (const ibv_recv_wr* each = wr; each != nullptr && taken > 0; --taken, each = each->next)
            add(*each);
    }
    if (thread.has_ring)
        thread.ring.publish();
    lose(thread, dropped);
    if (rc != 0) {
        EventWriter<"failed"> event = failure("ibv_post_srq_recv", rc);
        event.add(key::srq, srq->handle);
        if (*bad_wr != nullptr)
            add_fields(event, record_of(**bad_wr, 0, 0, 0));
        log(event);
    }
    errno = error;
    return rc;
}

}  // namespace interpose
