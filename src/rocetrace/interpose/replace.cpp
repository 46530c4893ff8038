// Replacements for a provider's functions that create objects, and the exchange of all of them.
#include <cerrno>

#include "rocetrace/interpose/context.hpp"
#include "rocetrace/interpose/real.hpp"
#include "rocetrace/interpose/sink.hpp"

namespace interpose {
namespace {

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
    call.with(sizes_of(attr->qp_type, attr->cap));
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

}  // namespace

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

}  // namespace interpose
