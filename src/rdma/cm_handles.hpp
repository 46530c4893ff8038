// librdmacm objects that free themselves. An event must be acknowledged before its id is destroyed
// (rdma_destroy_id waits for that for ever), and a QP made with rdma_create_qp goes before its id:
// members in creation order get both right.
#pragma once

#include <memory>

#include <rdma/rdma_cma.h>

namespace rdma {

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
using CmId = std::unique_ptr<rdma_cm_id, DestroyId>;
using CmEvent = std::unique_ptr<rdma_cm_event, AckEvent>;

/// The QP of an id. `->qp` is the ibv_qp.
using CmQp = std::unique_ptr<rdma_cm_id, DestroyQp>;

/// A channel whose events are waited for with poll(2). Throws std::system_error naming the call.
EventChannel make_channel();

/// An id for a reliable connection (RDMA_PS_TCP). Throws std::system_error naming the call.
CmId make_id(rdma_event_channel* channel);

/// Creates the id's QP. Throws std::system_error naming the call.
CmQp make_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr& attributes);

}  // namespace rdma
