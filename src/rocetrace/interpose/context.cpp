#include "rocetrace/interpose/context.hpp"

#include <cerrno>
#include <cstring>

#include "rocetrace/interpose/arena.hpp"
#include "rocetrace/interpose/real.hpp"
#include "rocetrace/interpose/sink.hpp"

namespace interpose {

PointerMap<Context> contexts;
PointerMap<QueuePair> queue_pairs;
PointerMap<QueuePair> numbered_queue_pairs;
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

Context* context_of(ibv_context* context) {
    return contexts.find(context);
}

template <typename Function>
void replace(Function& function, Function& kept, Function own) {
    if (function == nullptr || function == own)
        return;
    kept = function;
    function = own;
}

// Replaces an extended function. In an older provider, newer functions lie before its context.
#define REPLACE_EXTENDED(context, kept, name)                            \
    do {                                                                 \
        if (verbs_context* extended = verbs_get_ctx_op((context), name)) \
            replace(extended->name, (kept).name, &interpose::ex_##name); \
    } while (false)

ibv_qp* ex_create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attr) {
    OpenCall call("ibv_create_qp_ex");
    call.with(EventWriter<"qp">()
                  .add(key::type, attr->qp_type)
                  .add(key::max_send_wr, attr->cap.max_send_wr)
                  .add(key::max_recv_wr, attr->cap.max_recv_wr));
    ibv_qp* qp = context_of(context)->create_qp_ex(context, attr);
    if (qp == nullptr) {
        call.log_failure(errno);
        return qp;
    }
    const bool extended = (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
    adopt(qp, {attr->sq_sig_all != 0, attr->srq, attr->cap},
          extended ? real<decltype(&ibv_qp_to_qp_ex)>(Library::verbs, "ibv_qp_to_qp_ex",
                                                      "IBVERBS_1.6")(qp)
                   : nullptr,
          &call);
    return qp;
}

ibv_qp* ex_open_qp(ibv_context* context, ibv_qp_open_attr* attr) {
    OpenCall call("ibv_open_qp");
    call.with(EventWriter<"qp">().add(key::qpn, attr->qp_num));
    ibv_qp* qp = context_of(context)->open_qp(context, attr);
    if (qp == nullptr)
        call.log_failure(errno);
    else
        adopt(qp, {false, nullptr, {}}, nullptr, &call);
    return qp;
}

// The log needs QPN and length of a completion. If the provider rejects the additional flags, it
// gets the program's own ones.
ibv_cq_ex* ex_create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attr) {
    OpenCall call("ibv_create_cq_ex");
    const Context* known = context_of(context);
    call.with(EventWriter<"cq">().add(key::asked, attr->cqe));
    ibv_cq_init_attr_ex wanted = *attr;
    wanted.wc_flags |= IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_BYTE_LEN;
    const int error = errno;
    ibv_cq_ex* cq = known->create_cq_ex(context, &wanted);
    if (cq != nullptr) {
        attr->cqe = wanted.cqe;
    } else {
        errno = error;
        cq = known->create_cq_ex(context, attr);
    }
    if (cq == nullptr) {
        call.log_failure(errno);
        return cq;
    }
    adopt_extended(cq);
    call.log_made(EventWriter<"cq">().add(key::cq, cq->handle).add(key::entries, cq->cqe));
    return cq;
}

ibv_srq* ex_create_srq_ex(ibv_context* context, ibv_srq_init_attr_ex* attr) {
    const OpenCall call("ibv_create_srq_ex");
    return made(call, context_of(context)->create_srq_ex(context, attr), [&](const ibv_srq& srq) {
        return EventWriter<"srq_made">()
            .add(key::srq, srq.handle)
            .add(key::max_wr, attr->attr.max_wr);
    });
}

ibv_xrcd* ex_open_xrcd(ibv_context* context, ibv_xrcd_init_attr* attr) {
    const OpenCall call("ibv_open_xrcd");
    return made(call, context_of(context)->open_xrcd(context, attr), [](const ibv_xrcd& xrcd) {
        return EventWriter<"xrcd">().add(key::object, address_of(&xrcd));
    });
}

int ex_close_xrcd(ibv_xrcd* xrcd) {
    OpenCall call("ibv_close_xrcd");
    const auto event = destroyed(call, Category::pd, "xrcd", key::object, address_of(xrcd));
    return done(call, context_of(xrcd->context)->close_xrcd(xrcd), event);
}

ibv_mr* log_mr(const OpenCall& call, ibv_mr* made_mr, unsigned access) {
    return made(call, made_mr, [&](const ibv_mr& mr) {
        return EventWriter<"mr">()
            .add(key::va, address_of(mr.addr))
            .add(key::len, mr.length)
            .add(key::lkey, mr.lkey)
            .add(key::rkey, mr.rkey)
            .add(key::access, access)
            .add(key::pd, mr.pd->handle)
            .add(key::call, call.name());
    });
}

ibv_mr* ex_reg_dm_mr(ibv_pd* pd, ibv_dm* dm, std::uint64_t offset, std::size_t length,
                     unsigned access) {
    const OpenCall call("ibv_reg_dm_mr");
    return log_mr(call, context_of(pd->context)->reg_dm_mr(pd, dm, offset, length, access), access);
}

ibv_mr* ex_alloc_null_mr(ibv_pd* pd) {
    const OpenCall call("ibv_alloc_null_mr");
    return log_mr(call, context_of(pd->context)->alloc_null_mr(pd), 0);
}

ibv_pd* ex_alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attr) {
    const OpenCall call("ibv_alloc_parent_domain");
    return made(call, context_of(context)->alloc_parent_domain(context, attr),
                [](const ibv_pd& pd) { return EventWriter<"pd">().add(key::handle, pd.handle); });
}

void replace_functions(ibv_context* context, Context& known) {
    ibv_context_ops& ops = context->ops;
    replace(ops.post_send, known.ops.post_send, &post_send);
    replace(ops.post_recv, known.ops.post_recv, &post_recv);
    replace(ops.post_srq_recv, known.ops.post_srq_recv, &post_srq_recv);
    replace(ops.poll_cq, known.ops.poll_cq, &poll_cq);
    replace(ops.req_notify_cq, known.ops.req_notify_cq, &req_notify_cq);
    replace(ops.alloc_mw, known.ops.alloc_mw, &alloc_mw);
    replace(ops.bind_mw, known.ops.bind_mw, &bind_mw);
    replace(ops.dealloc_mw, known.ops.dealloc_mw, &dealloc_mw);
    REPLACE_EXTENDED(context, known, create_qp_ex);
    REPLACE_EXTENDED(context, known, create_cq_ex);
    REPLACE_EXTENDED(context, known, create_srq_ex);
    REPLACE_EXTENDED(context, known, open_qp);
    REPLACE_EXTENDED(context, known, open_xrcd);
    REPLACE_EXTENDED(context, known, close_xrcd);
    REPLACE_EXTENDED(context, known, reg_dm_mr);
    REPLACE_EXTENDED(context, known, alloc_null_mr);
    REPLACE_EXTENDED(context, known, alloc_parent_domain);
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
bool insert(QueuePair& pair) {
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

void adopt(ibv_qp* qp, const QpRequest& request, const ibv_qp_ex* extended, const OpenCall* call) {
    const int error = errno;
    adopt(qp->context);  // a provider may have changed its functions since
    Context* context = contexts.find(qp->context);
    QueuePair* pair = context == nullptr
                          ? nullptr
                          : make_queue_pair(request.cap.max_send_wr, request.cap.max_recv_wr,
                                            extended != nullptr);
    EventWriter<"qp"> event;
    event.add(key::qpn, qp->qp_num)
        .add(key::type, qp->qp_type)
        .add(key::max_send_wr, request.cap.max_send_wr)
        .add(key::max_recv_wr, request.cap.max_recv_wr);
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

QueuePair* detach(ibv_qp* qp) {
    QueuePair* pair = queue_pairs.find(qp);
    if (pair != nullptr)
        queue_pairs.erase(qp, pair);
    return pair;
}

void attach_again(QueuePair* pair) {
    if (pair != nullptr)
        queue_pairs.insert(pair->qp, pair);
}

void bury(QueuePair* pair, const OpenCall* call) {
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

void log_state(QueuePair& pair, const OpenCall* call) {
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
