// librdmacm objects that free themselves. An event must be acknowledged before its id is destroyed
// (rdma_destroy_id waits for that forever), and a QP created with rdma_create_qp must be destroyed
// before its id: members in creation order ensure both.
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

/// Creates a channel whose events are awaited with poll(2). Throws std::system_error that names the
/// call.
EventChannel make_channel();

/// Creates an id for a reliable connection (RDMA_PS_TCP). Throws std::system_error that names the
/// call.
CmId make_id(rdma_event_channel* channel);

/// Creates the id's QP. Throws std::system_error that names the call.
CmQp make_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr& attributes);

}  // namespace rdma
