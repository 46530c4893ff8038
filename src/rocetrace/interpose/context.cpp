#include "rocetrace/interpose/context.hpp"

#include <cerrno>

#include "rocetrace/interpose/arena.hpp"
#include "rocetrace/interpose/sink.hpp"

namespace interpose {

PointerMap<Context> contexts;
PointerMap<TracedQueuePair> queue_pairs;
PointerMap<TracedQueuePair> numbered_queue_pairs;
PointerMap<ExtendedCq> extended_cqs;

namespace {

Lock adoption;
std::uint32_t last_number = 0;

void log_as(const OpenCall* call, const EventBytes& event) {
    if (call != nullptr)
        call->log(event);
    else
        log(event);
}

// nullptr if there is no memory.
Context* make_context(ibv_context* context) {
    auto* known = make<Context>();
    if (known == nullptr)
        return nullptr;
    known->context = context;
    known->number = ++last_number;
    // Must come first: the replacement functions look it up.
    known->ops = context->ops;
    if (contexts.insert(context, known))
        return known;
    unmake(known);
    return nullptr;
}

// Without memory, the queue pair keeps the provider's functions and is not known.
bool insert(TracedQueuePair& pair) {
    if (!queue_pairs.insert(pair.qp, &pair))
        return false;
    if (numbered_queue_pairs.insert(number_key(*pair.context, pair.qpn), &pair))
        return true;
    queue_pairs.erase(pair.qp, &pair);
    return false;
}

}  // namespace

void adopt(ibv_context* context) {
    if (context == nullptr)
        return;
    const int error = errno;
    const Guard guard(adoption);
    Context* known = contexts.find(context);
    if (known == nullptr)
        known = make_context(context);
    if (known != nullptr)
        replace_functions(context, *known);
    errno = error;
}

Context* detach(ibv_context* context) {
    // Its memory is not freed: queue pairs of it may still exist.
    Context* known = contexts.find(context);
    if (known != nullptr)
        contexts.erase(context, known);
    return known;
}

void attach_again(Context* context) {
    if (context != nullptr)
        contexts.insert(context->context, context);
}

EventWriter<"qp"> sizes_of(ibv_qp_type type, const ibv_qp_cap& cap) {
    EventWriter<"qp"> event;
    event.add(key::type, type)
        .add(key::max_send_wr, cap.max_send_wr)
        .add(key::max_recv_wr, cap.max_recv_wr)
        .add(key::max_send_sge, cap.max_send_sge)
        .add(key::max_recv_sge, cap.max_recv_sge)
        .add(key::max_inline_data, cap.max_inline_data);
    return event;
}

void adopt(ibv_qp* qp, const QpRequest& request, const ibv_qp_ex* extended, const OpenCall* call) {
    const int error = errno;
    adopt(qp->context);  // a provider may have changed its functions since
    Context* context = contexts.find(qp->context);
    TracedQueuePair* pair = context == nullptr
                                ? nullptr
                                : make_queue_pair(request.cap.max_send_wr, request.cap.max_recv_wr,
                                                  extended != nullptr);
    EventWriter<"qp"> event;
    event.add(key::qpn, qp->qp_num).add_fields(sizes_of(qp->qp_type, request.cap));
    if (qp->send_cq != nullptr)
        event.add(key::send_cq, qp->send_cq->handle);
    if (qp->recv_cq != nullptr)
        event.add(key::recv_cq, qp->recv_cq->handle);
    if (request.srq != nullptr)
        event.add(key::srq, request.srq->handle);
    if (qp->pd != nullptr)
        event.add(key::pd, qp->pd->handle);
    event.add(key::signals_all, request.signals_all);
    if (pair != nullptr) {
        {
            const Guard guard(pair->lock);
            pair->context = context;
            pair->qp = qp;
            pair->qpn = qp->qp_num;
            pair->type = qp->qp_type;
            pair->signals_all = request.signals_all;
            pair->has_srq = request.srq != nullptr;
            pair->send_cq = address_of(qp->send_cq);
            pair->recv_cq = address_of(qp->recv_cq);
            if (extended != nullptr)
                pair->real = *extended;
        }
        if (!insert(*pair))
            retire_queue_pair(pair);
        else if (extended != nullptr)
            replace_extended(*reinterpret_cast<ibv_qp_ex*>(qp));
    }
    if (call != nullptr)
        call->log_made(event);
    else
        log(event);
    errno = error;
}

TracedQueuePair* detach(ibv_qp* qp) {
    TracedQueuePair* pair = queue_pairs.find(qp);
    if (pair != nullptr)
        queue_pairs.erase(qp, pair);
    return pair;
}

void attach_again(TracedQueuePair* pair) {
    if (pair != nullptr)
        queue_pairs.insert(pair->qp, pair);
}

void bury(TracedQueuePair* pair, const OpenCall* call) {
    if (pair == nullptr)
        return;
    EventWriter<"destroyed"> event(Category::qp);
    event.add(key::what, "qp").add(key::qpn, pair->qpn);
    {
        const Guard guard(pair->lock);
        event.add(key::sends_posted, pair->sends.posted())
            .add(key::sends_outstanding, pair->sends.count())
            .add(key::receives_posted, pair->receives.posted())
            .add(key::receives_outstanding, pair->receives.count());
        if (const auto forgotten = pair->sends.forgotten() + pair->receives.forgotten();
            forgotten != 0)
            event.add(key::forgotten, forgotten);
    }
    log_as(call, event);
    numbered_queue_pairs.erase(number_key(*pair->context, pair->qpn), pair);
    retire_queue_pair(pair);
}

void adopt_extended(ibv_cq_ex* cq) {
    adopt(cq->context);
    auto* known = make<ExtendedCq>();
    if (known == nullptr)
        return;
    known->context = contexts.find(cq->context);
    known->real = *cq;
    if (known->context == nullptr || !extended_cqs.insert(cq, known))
        unmake(known);
    else
        replace_extended(*cq);
}

void forget(ibv_cq* cq) {
    ExtendedCq* known = extended_cqs.find(cq);
    if (known == nullptr)
        return;
    extended_cqs.erase(cq, known);
    unmake(known);
}

void log_state(TracedQueuePair& pair, const OpenCall* call) {
    const ibv_qp_attr& attr = pair.attributes;
    EventWriter<"qp_state"> event;
    event.add(key::qpn, pair.qpn).add(key::state, pair.state);
    const auto add = [&](int bit, EventWriter<"qp_state">::Own<runlog::NumberKey> own,
                         std::uint64_t value) {
        if ((pair.known & bit) != 0)
            event.add(own, value);
    };
    add(IBV_QP_DEST_QPN, key::dest_qpn, attr.dest_qp_num);
    add(IBV_QP_SQ_PSN, key::sq_psn, pair.next_psn);
    add(IBV_QP_RQ_PSN, key::rq_psn, attr.rq_psn);
    add(IBV_QP_PATH_MTU, key::path_mtu, pair.path_mtu);
    if ((pair.known & IBV_QP_AV) != 0 && attr.ah_attr.is_global != 0)
        event.add(key::gid_index, attr.ah_attr.grh.sgid_index)
            .add(key::dest_gid, &attr.ah_attr.grh.dgid);
    add(IBV_QP_TIMEOUT, key::timeout, attr.timeout);
    add(IBV_QP_RETRY_CNT, key::retry_cnt, attr.retry_cnt);
    add(IBV_QP_RNR_RETRY, key::rnr_retry, attr.rnr_retry);
    add(IBV_QP_MIN_RNR_TIMER, key::min_rnr_timer, attr.min_rnr_timer);
    add(IBV_QP_MAX_QP_RD_ATOMIC, key::max_rd_atomic, attr.max_rd_atomic);
    add(IBV_QP_MAX_DEST_RD_ATOMIC, key::max_dest_rd_atomic, attr.max_dest_rd_atomic);
    add(IBV_QP_QKEY, key::q_key, attr.qkey);
    if ((pair.known & IBV_QP_ACCESS_FLAGS) != 0)
        event.add(key::access, attr.qp_access_flags);
    log_as(call, event);
}

void reset_locks() {
    reset_memory_lock();
    adoption.reset();
    contexts.reset_lock();
    queue_pairs.reset_lock();
    numbered_queue_pairs.reset_lock();
    extended_cqs.reset_lock();
    reset_queue_pair_locks();
}

}  // namespace interpose
