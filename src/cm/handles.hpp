// librdmacm objects that free themselves. An event must be acknowledged before its id is destroyed
// (rdma_destroy_id waits for that for ever), and a QP made with rdma_create_qp goes before its id:
// members in creation order get both right.
#pragma once

#include <memory>

#include <rdma/rdma_cma.h>

namespace cm {

struct DestroyChannel {
    void operator()(rdma_event_channel* channel) const noexcept {
        rdma_destroy_event_channel(channel);
    }
};
struct DestroyId {
    void operator()(rdma_cm_id* id) const noexcept;
};
struct DestroyQp {
    void operator()(rdma_cm_id* id) const noexcept { rdma_destroy_qp(id); }
};
struct AckEvent {
    void operator()(rdma_cm_event* event) const noexcept;
};

using EventChannel = std::unique_ptr<rdma_event_channel, DestroyChannel>;
using Id = std::unique_ptr<rdma_cm_id, DestroyId>;
using Event = std::unique_ptr<rdma_cm_event, AckEvent>;

/// The QP of an id. `->qp` is the ibv_qp.
using Qp = std::unique_ptr<rdma_cm_id, DestroyQp>;

/// A channel whose events are waited for with poll(2). Throws std::system_error naming the call.
EventChannel make_channel();

/// An id for a reliable connection (RDMA_PS_TCP). Throws std::system_error naming the call.
Id make_id(rdma_event_channel* channel);

/// Creates the id's QP. Throws std::system_error naming the call.
Qp make_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr& attributes);

}  // namespace cm
