// Memory windows.
#include <cerrno>

#include "rocetrace/interpose/context.hpp"
#include "rocetrace/interpose/sink.hpp"

namespace interpose {

ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type) {
    const OpenCall call("ibv_alloc_mw");
    return made(call, contexts.find(pd->context)->ops.alloc_mw(pd, type), [&](const ibv_mw& mw) {
        return EventWriter<"mw_made">().add(key::window_type, type).add(key::rkey, mw.rkey);
    });
}

// The provider posts a work request for it. It takes no PSN, and so is not a `post_send`, but it
// has a number in the send queue and completes.
int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind) {
    const Context& context = *contexts.find(qp->context);
    TracedQueuePair* pair = queue_pairs.find(qp);
    if (pair == nullptr)
        return context.ops.bind_mw(qp, mw, bind);
    ThreadSink& thread = sink();
    // Held until the event is written, so that no other thread logs the completion before it.
    const SendGuard guard(*pair, &thread);
    OpenCall call("ibv_bind_mw");
    EventWriter<"bind_mw"> arguments;
    arguments.add(key::qpn, qp->qp_num)
        .add(key::wr_id, bind->wr_id)
        .add(key::rkey, mw->rkey)
        .add(key::va, bind->bind_info.addr)
        .add(key::len, bind->bind_info.length)
        .add(key::access, bind->bind_info.mw_access_flags);
    call.with(arguments);
    int rc = 0;
    {
        const Inside inside(thread);
        rc = context.ops.bind_mw(qp, mw, bind);
    }
    if (rc != 0) {
        call.log_failure(rc);
        return rc;
    }
    const bool is_signaled = pair->signals_all || (bind->send_flags & IBV_SEND_SIGNALED) != 0;
    const std::uint32_t number = pair->sends.stage(bind->wr_id, is_signaled);
    pair->sends.accept();
    call.log(EventWriter<"bind_mw">()
                 .add(key::qpn, qp->qp_num)
                 .add(key::wr_id, bind->wr_id)
                 .add(key::rkey, mw->rkey)  // the new one
                 .add(key::va, bind->bind_info.addr)
                 .add(key::len, bind->bind_info.length)
                 .add(key::access, bind->bind_info.mw_access_flags)
                 .add(key::request, number)
                 .add(key::signaled, is_signaled));
    return rc;
}

int dealloc_mw(ibv_mw* mw) {
    OpenCall call("ibv_dealloc_mw");
    const auto event = destroyed(call, Category::mr, "window", key::rkey, mw->rkey);
    const int rc = contexts.find(mw->context)->ops.dealloc_mw(mw);
    if (rc != 0)
        call.log_failure(rc);
    else
        call.log(event);
    return rc;
}

}  // namespace interpose
