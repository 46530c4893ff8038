// The functions that libibverbs exports, in the order of <infiniband/verbs.h>; those of protection
// domains and memory regions are in memory.cpp.
#include <optional>

#include <infiniband/verbs.h>

#include "rocetrace/interpose/context.hpp"
#include "rocetrace/interpose/real.hpp"
#include "rocetrace/interpose/sink.hpp"

#undef ibv_query_port  // a macro around the function

namespace interpose {
namespace {

ibv_context* opened(OpenCall& call, ibv_context* context) {
    if (!is_tracing())
        return context;
    const int error = errno;
    adopt(context);
    if (context == nullptr)
        call.log_failure(error);
    else
        log_opened(call, *context);
    errno = error;
    return context;
}

int log_group(const OpenCall& call, int rc, const ibv_qp& qp, const char* what,
              const ibv_gid* gid) {
    return done(
        call, rc,
        EventWriter<"group">().add(key::qpn, qp.qp_num).add(key::what, what).add(key::gid, gid));
}

}  // namespace

#pragma GCC visibility push(default)

extern "C" {

ibv_context* ibv_open_device(ibv_device* device) {
    REAL(verbs, ibv_open_device, "IBVERBS_1.1");
    return opened(call, real(device));
}

ibv_context* ibv_import_device(int cmd_fd) {
    REAL(verbs, ibv_import_device, "IBVERBS_1.10");
    return opened(call, real(cmd_fd));
}

int ibv_close_device(ibv_context* context) {
    REAL(verbs, ibv_close_device, "IBVERBS_1.1");
    EventWriter<"destroyed"> event(Category::device);
    event.add(key::what, "device").add(key::device, context->device->name);
    call.destroys(event);
    Context* known = detach(context);
    const int rc = real(context);
    if (rc != 0)
        attach_again(known);
    return done(call, rc, event);
}

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
    REAL(verbs, ibv_create_comp_channel, "IBVERBS_1.0");
    return made(call, real(context), [](const ibv_comp_channel& channel) {
        return EventWriter<"comp_channel">().add(key::fd, channel.fd);
    });
}

int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
    REAL(verbs, ibv_destroy_comp_channel, "IBVERBS_1.0");
    const auto event = destroyed(call, Category::cq, "comp_channel", key::fd, channel->fd);
    return done(call, real(channel), event);
}

ibv_cq* ibv_create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel,
                      int comp_vector) {
    REAL(verbs, ibv_create_cq, "IBVERBS_1.1");
    call.with(EventWriter<"cq">().add(key::asked, cqe));
    return made(call, real(context, cqe, cq_context, channel, comp_vector), [&](const ibv_cq& cq) {
        return EventWriter<"cq">()
            .add(key::cq, cq.handle)
            .add(key::entries, cq.cqe)
            .add(key::asked, cqe);
    });
}

int ibv_resize_cq(ibv_cq* cq, int cqe) {
    REAL(verbs, ibv_resize_cq, "IBVERBS_1.1");
    const int rc = real(cq, cqe);
    return done(call, rc,
                EventWriter<"cq">()
                    .add(key::cq, cq->handle)
                    .add(key::entries, cq->cqe)
                    .add(key::asked, cqe));
}

int ibv_destroy_cq(ibv_cq* cq) {
    REAL(verbs, ibv_destroy_cq, "IBVERBS_1.1");
    const auto event = destroyed(call, Category::cq, "cq", key::cq, cq->handle);
    const int rc = real(cq);
    if (rc == 0)
        forget(cq);  // the address is only compared
    return done(call, rc, event);
}

int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
    REAL_WAIT(verbs, ibv_get_cq_event, "IBVERBS_1.1");
    const int rc = real(channel, cq, cq_context);
    if (rc != 0)
        return rc;  // a non-blocking channel often has no event
    return done(call, rc, EventWriter<"cq_event">().add(key::cq, (*cq)->handle));
}

ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* attr) {
    REAL(verbs, ibv_create_srq, "IBVERBS_1.1");
    return made(call, real(pd, attr), [&](const ibv_srq& srq) {
        return EventWriter<"srq_made">()
            .add(key::srq, srq.handle)
            .add(key::max_wr, attr->attr.max_wr);
    });
}

int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int mask) {
    REAL(verbs, ibv_modify_srq, "IBVERBS_1.1");
    EventWriter<"srq_modified"> event;
    event.add(key::srq, srq->handle);
    if ((mask & IBV_SRQ_LIMIT) != 0)
        event.add(key::limit, attr->srq_limit);
    if ((mask & IBV_SRQ_MAX_WR) != 0)
        event.add(key::max_wr, attr->max_wr);
    call.with(event);
    return done(call, real(srq, attr, mask), event);
}

int ibv_destroy_srq(ibv_srq* srq) {
    REAL(verbs, ibv_destroy_srq, "IBVERBS_1.1");
    const auto event = destroyed(call, Category::srq, "srq", key::srq, srq->handle);
    return done(call, real(srq), event);
}

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
    REAL(verbs, ibv_create_qp, "IBVERBS_1.1");
    if (!is_tracing())
        return real(pd, attr);
    call.with(sizes_of(attr->qp_type, attr->cap));
    ibv_qp* qp = real(pd, attr);
    const int error = errno;
    if (qp == nullptr)
        call.log_failure(error);
    else
        adopt(qp, {attr->sq_sig_all != 0, attr->srq, attr->cap}, nullptr, &call);
    errno = error;
    return qp;
}

int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
    REAL(verbs, ibv_modify_qp, "IBVERBS_1.1");
    TracedQueuePair* pair = queue_pairs.find(qp);
    if (pair == nullptr)
        return real(qp, attr, mask);
    // Held across a call that sets the PSN, as for a post, so that the first request after RTS gets
    // its PSN. Others may wait for locks of the provider, whose holder may wait for this one.
    const bool sets_psn = (mask & IBV_QP_SQ_PSN) != 0;
    std::optional<Guard> guard;
    if (sets_psn)
        guard.emplace(pair->lock);
    const bool has_path = (mask & IBV_QP_AV) != 0 && attr->ah_attr.is_global != 0;
    if (has_path)
        log_gid(qp->context, attr->ah_attr.port_num, attr->ah_attr.grh.sgid_index);
    EventWriter<"failed"> arguments;
    arguments.add(key::qpn, qp->qp_num).add(key::from, pair->state);
    if ((mask & IBV_QP_STATE) != 0)
        arguments.add(key::to, attr->qp_state);
    if (has_path)
        arguments.add(key::gid_index, attr->ah_attr.grh.sgid_index)
            .add(key::dest_gid, &attr->ah_attr.grh.dgid);
    if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0)
        arguments.add(key::max_rd_atomic, attr->max_rd_atomic);
    if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0)
        arguments.add(key::max_dest_rd_atomic, attr->max_dest_rd_atomic);
    call.with(arguments.add(key::mask, mask));
    call.begin_again();
    const int rc = real(qp, attr, mask);
    const int error = errno;
    if (!sets_psn)
        guard.emplace(pair->lock);
    if (rc == 0) {
        pair->modified(*attr, mask);
        log_state(*pair, &call);
    } else {
        call.log_failure(rc > 0 ? rc : error);
    }
    errno = error;
    return rc;
}

int ibv_destroy_qp(ibv_qp* qp) {
    REAL(verbs, ibv_destroy_qp, "IBVERBS_1.1");
    TracedQueuePair* pair = detach(qp);
    call.destroys(EventWriter<"destroyed">().add(key::qpn, qp->qp_num));
    const int rc = real(qp);
    const int error = errno;
    if (rc == 0) {
        bury(pair, &call);
    } else {
        attach_again(pair);
        call.log_failure(rc);
    }
    errno = error;
    return rc;
}

ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
    REAL(verbs, ibv_create_ah, "IBVERBS_1.1");
    if (attr->is_global != 0) {
        log_gid(pd->context, attr->port_num, attr->grh.sgid_index);
        call.begin_again();
    }
    return made(call, real(pd, attr), [&](const ibv_ah& ah) {
        EventWriter<"ah"> event;
        event.add(key::object, address_of(&ah)).add(key::port, attr->port_num);
        if (attr->is_global != 0)
            event.add(key::gid_index, attr->grh.sgid_index).add(key::dest_gid, &attr->grh.dgid);
        return event;
    });
}

ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, std::uint8_t port) {
    REAL(verbs, ibv_create_ah_from_wc, "IBVERBS_1.1");
    return made(call, real(pd, wc, grh, port), [&](const ibv_ah& ah) {
        EventWriter<"ah"> event;
        event.add(key::object, address_of(&ah)).add(key::port, port).add(key::src_qp, wc->src_qp);
        if (grh != nullptr)
            event.add(key::dest_gid, &grh->sgid);
        return event;
    });
}

int ibv_destroy_ah(ibv_ah* ah) {
    REAL(verbs, ibv_destroy_ah, "IBVERBS_1.1");
    const auto event = destroyed(call, Category::ah, "ah", key::object, address_of(ah));
    return done(call, real(ah), event);
}

int ibv_attach_mcast(ibv_qp* qp, const ibv_gid* gid, std::uint16_t lid) {
    REAL(verbs, ibv_attach_mcast, "IBVERBS_1.1");
    return log_group(call, real(qp, gid, lid), *qp, "has joined", gid);
}

int ibv_detach_mcast(ibv_qp* qp, const ibv_gid* gid, std::uint16_t lid) {
    REAL(verbs, ibv_detach_mcast, "IBVERBS_1.1");
    return log_group(call, real(qp, gid, lid), *qp, "has left", gid);
}

int ibv_get_async_event(ibv_context* context, ibv_async_event* async) {
    REAL_WAIT(verbs, ibv_get_async_event, "IBVERBS_1.1");
    const int rc = real(context, async);
    if (rc != 0)
        return rc;
    EventWriter<"async"> event;
    event.add(key::async_type, async->event_type);
    switch (async->event_type) {
        case IBV_EVENT_QP_FATAL:
        case IBV_EVENT_QP_REQ_ERR:
        case IBV_EVENT_QP_ACCESS_ERR:
        case IBV_EVENT_COMM_EST:
        case IBV_EVENT_SQ_DRAINED:
        case IBV_EVENT_PATH_MIG:
        case IBV_EVENT_PATH_MIG_ERR:
        case IBV_EVENT_QP_LAST_WQE_REACHED:
            event.add(key::qpn, async->element.qp->qp_num);
            break;
        case IBV_EVENT_CQ_ERR:
            event.add(key::cq, async->element.cq->handle);
            break;
        case IBV_EVENT_SRQ_ERR:
        case IBV_EVENT_SRQ_LIMIT_REACHED:
            event.add(key::srq, async->element.srq->handle);
            break;
        default:
            break;
    }
    return done(call, rc, event);
}

}  // extern "C"

#pragma GCC visibility pop

}  // namespace interpose
