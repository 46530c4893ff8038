// ibv_poll_cq, the polling functions of ibv_cq_ex, and ibv_req_notify_cq.
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>

#include "rocetrace/interpose/context.hpp"
#include "rocetrace/interpose/sink.hpp"

namespace interpose {
namespace {

using tracelog::Wc;

struct Completion {
    std::uint64_t wr_id;
    std::uint32_t qpn;
    ibv_wc_status status;
    unsigned opcode;
};

struct Match {
    std::int64_t request = -1;
    bool is_recv = false;
    std::int64_t after_ns = 0;  // of the queue pair's last record: the completion's is later
};

// After an error, a completion does not show its queue (ibv_poll_cq(3)). The queue is known if send
// and receive queue have different completion queues. Otherwise the oldest request with its wr_id
// determines it, and the provider's opcode determines which queue is searched first.
Match match(TracedQueuePair& pair, std::uint64_t cq, const Completion& completion) {
    const bool succeeded = completion.status == IBV_WC_SUCCESS;
    bool is_recv = (completion.opcode & IBV_WC_RECV) != 0;
    const bool is_sure = succeeded || pair.send_cq != pair.recv_cq;
    if (!succeeded && pair.send_cq != pair.recv_cq)
        is_recv = cq == pair.recv_cq;
    Match found{-1, is_recv, 0};
    for (int attempt = 0; attempt < (is_sure ? 1 : 2) && found.request < 0; ++attempt) {
        found.is_recv = attempt == 0 ? is_recv : !is_recv;
        found.request = found.is_recv ? pair.receives.complete(completion.wr_id, succeeded)
                                      : pair.sends.complete(completion.wr_id, succeeded);
    }
    if (found.request < 0)
        found.is_recv = is_recv;
    return found;
}

Match match(const Context& context, const void* cq, const Completion& completion) {
    TracedQueuePair* pair = numbered_queue_pairs.find(number_key(context, completion.qpn));
    if (pair == nullptr)
        return {-1, (completion.opcode & IBV_WC_RECV) != 0, 0};
    const Guard guard(pair->lock);
    if (pair->context != &context || pair->qpn != completion.qpn)
        return {-1, (completion.opcode & IBV_WC_RECV) != 0, 0};
    Match found = match(*pair, reinterpret_cast<std::uintptr_t>(cq), completion);
    found.after_ns = pair->last_ns;
    return found;
}

Wc record_of(const Completion& completion, const Match& match, std::int64_t t_ns) {
    Wc record{};
    record.header = {sizeof record, tracelog::Kind::wc, 0, std::max(t_ns, match.after_ns + 1)};
    if (match.request >= 0)
        record.header.flags |= Wc::has_request;
    if (match.is_recv)
        record.header.flags |= Wc::is_recv;
    record.wr_id = completion.wr_id;
    record.qpn = completion.qpn;
    record.request = static_cast<std::uint32_t>(match.request);
    record.opcode = static_cast<std::uint8_t>(completion.opcode);
    record.status = static_cast<std::uint8_t>(completion.status);
    return record;
}

void write(ThreadSink& thread, const Wc& record) {
    if (wants(Category::wc) && !(thread.has_ring && thread.ring.put(&record, sizeof record)))
        lose(thread, 1);
}

// The functions of an extended completion queue.

ExtendedCq& known(ibv_cq_ex* cq) {
    return *extended_cqs.find(cq);
}

void log_current(const ExtendedCq& queue, ibv_cq_ex* cq) {
    const int error = errno;
    ThreadSink& thread = sink();
    const ibv_cq_ex& real = queue.real;
    const bool succeeded = cq->status == IBV_WC_SUCCESS;
    const Completion completion{cq->wr_id, real.read_qp_num != nullptr ? real.read_qp_num(cq) : 0,
                                cq->status, static_cast<unsigned>(real.read_opcode(cq))};
    Wc record = record_of(completion, match(*queue.context, cq, completion), thread.clock.read());
    if (succeeded) {
        record.wc_flags =
            static_cast<std::uint16_t>(real.read_wc_flags != nullptr ? real.read_wc_flags(cq) : 0U);
        if (real.read_byte_len != nullptr) {
            record.header.flags |= Wc::has_byte_len;
            record.byte_len = real.read_byte_len(cq);
        }
        if ((record.wc_flags & IBV_WC_WITH_IMM) != 0 && real.read_imm_data != nullptr)
            record.imm = ntohl(real.read_imm_data(cq));
    } else {
        record.vendor_err = real.read_vendor_err(cq);
    }
    write(thread, record);
    if (thread.has_ring)
        thread.ring.publish();
    errno = error;
}

int start_poll(ibv_cq_ex* cq, ibv_poll_cq_attr* attr) {
    const ExtendedCq& queue = known(cq);
    const int rc = queue.real.start_poll(cq, attr);
    if (rc == 0)
        log_current(queue, cq);
    return rc;
}

int next_poll(ibv_cq_ex* cq) {
    const ExtendedCq& queue = known(cq);
    const int rc = queue.real.next_poll(cq);
    if (rc == 0)
        log_current(queue, cq);
    return rc;
}

}  // namespace

int poll_cq(ibv_cq* cq, int num_entries, ibv_wc* wc) {
    const Context& context = *contexts.find(cq->context);
    const int count = context.ops.poll_cq(cq, num_entries, wc);
    if (count <= 0)
        return count;
    const int error = errno;
    ThreadSink& thread = sink();
    if (thread.depth != 0)
        return count;
    const std::int64_t t_ns = thread.clock.read();
    for (const ibv_wc* each = wc; each != wc + count; ++each) {
        const Completion completion{each->wr_id, each->qp_num, each->status,
                                    static_cast<unsigned>(each->opcode)};
        Wc record = record_of(completion, match(context, cq, completion), t_ns);
        if (each->status == IBV_WC_SUCCESS) {
            record.header.flags |= Wc::has_byte_len;
            record.byte_len = each->byte_len;
            record.wc_flags = static_cast<std::uint16_t>(each->wc_flags);
            record.imm = ntohl(each->imm_data);
        } else {
            record.vendor_err = each->vendor_err;
        }
        write(thread, record);
    }
    if (thread.has_ring)
        thread.ring.publish();
    errno = error;
    return count;
}

int req_notify_cq(ibv_cq* cq, int solicited_only) {
    const OpenCall call("ibv_req_notify_cq");
    const int rc = contexts.find(cq->context)->ops.req_notify_cq(cq, solicited_only);
    const int error = errno;
    call.log(EventWriter<"req_notify">()
                 .add(key::cq, cq->handle)
                 .add(key::solicited_only, solicited_only != 0));
    errno = error;
    return rc;
}

void replace_extended(ibv_cq_ex& cq) {
    cq.start_poll = &start_poll;
    cq.next_poll = &next_poll;
}

}  // namespace interpose
