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
    record.header = {0, Kind::post_send,
                     static_cast<std::uint16_t>(is_long ? PostSend::is_long : 0), t_ns};
    record.wr_id = wr.wr_id;
    record.qpn = pair.qpn;
    record.len = take_list(record, wr.sg_list, wr.num_sge);
    record.imm = wr.opcode == IBV_WR_SEND_WITH_INV || wr.opcode == IBV_WR_LOCAL_INV
                     ? wr.invalidate_rkey
                     : ntohl(wr.imm_data);
    record.rkey = 0;
    record.opcode = static_cast<std::uint16_t>(std::min<std::uint32_t>(wr.opcode, UINT16_MAX));
    record.send_flags = static_cast<std::uint16_t>(wr.send_flags);
    fill_target(record, pair, wr);
    if (pair.signals_all || (wr.send_flags & IBV_SEND_SIGNALED) != 0)
        record.header.flags |= PostSend::is_signaled;
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

// The records of a list are written before it is posted: before the post returns, a completion may
// arrive and the program may reuse the list's memory. The records of accepted requests are
// published afterwards; rocetrace reads the others only if the process ends inside the post.
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
        write(record);
    }
    void add(const ibv_recv_wr& wr, std::int64_t t_ns) {
        PostRecv record = record_of(wr, pair_.qpn, 0, t_ns);
        pair_.receives.push({wr.wr_id});
        write(record);
    }
    void announce() {
        if (writes_)
            thread_.ring.announce();
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
    template <typename Record>
    void write(Record& record) {
        if (writes_ && !thread_.ring.put_post(record))
            ++dropped_;
    }

    QueuePair& pair_;
    ThreadSink& thread_;
    bool writes_;
    std::uint64_t begin_;
    std::uint64_t dropped_ = 0;
    std::uint32_t next_psn_, sends_, receives_;
};

void add_list(tracelog::EventWriter& event, const ibv_sge* list, int count) {
    PostRecv copy{};
    event.add("len", take_list(copy, list, count));
    const std::uint32_t recorded = tracelog::SgeList::recorded(copy.header);
    if (recorded != 0)
        event.add_sges("sges", copy.sges.entries, recorded);
    if (const std::uint32_t all = tracelog::SgeList::count(copy.header); all > recorded)
        event.add("more_sges", all - recorded);
}

void add_request(tracelog::EventWriter& event, const ibv_recv_wr& wr) {
    event.add("wr_id", wr.wr_id);
    add_list(event, wr.sg_list, wr.num_sge);
}

void add_request(tracelog::EventWriter& event, const ibv_send_wr& wr) {
    event.add("wr_id", wr.wr_id).add("opcode", wr.opcode, tracelog::Type::opcode);
    if (tracelog::is_one_sided(wr.opcode))
        event.add("remote_va", wr.wr.rdma.remote_addr).add("rkey", wr.wr.rdma.rkey);
    else if (tracelog::is_atomic(wr.opcode))
        event.add("remote_va", wr.wr.atomic.remote_addr).add("rkey", wr.wr.atomic.rkey);
    if (wr.send_flags != 0)
        event.add("send_flags", wr.send_flags, tracelog::Type::send_flags);
    add_list(event, wr.sg_list, wr.num_sge);
}

// `key`, `number`: of the queue pair or the shared receive queue.
template <typename Wr>
void log_refusal(const char* call, const char* key, std::uint32_t number, const Wr* bad,
                 int error) {
    tracelog::EventWriter event = failure(call, error);
    event.add(key, number);
    if (bad != nullptr)
        add_request(event, *bad);
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
    batch.announce();
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
    log_refusal(call, "qpn", pair.qpn, *bad, rc);
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
        PostRecv record = record_of(added, srq->handle, PostRecv::is_srq, t_ns);
        if (!thread.ring.put_post(record))
            ++dropped;
    };
    for (const ibv_recv_wr* each = wr; each != nullptr; each = each->next)
        add(*each);
    const Inside inside(thread);
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
    thread.ring.publish();
    if (dropped != 0)
        thread.ring.drop(dropped);
    if (rc != 0)
        log_refusal("ibv_post_srq_recv", "srq", srq->handle, *bad_wr, rc);
    errno = error;
    return rc;
}

}  // namespace interpose
