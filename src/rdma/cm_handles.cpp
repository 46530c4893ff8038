#include "rdma/cm_handles.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "util/check.hpp"

namespace rdma {

void DestroyId::operator()(rdma_cm_id* id) const noexcept {
    if (rdma_destroy_id(id) != 0)
        std::fprintf(stderr, "rdma_destroy_id failed: %s\n", std::strerror(errno));
}

void AckEvent::operator()(rdma_cm_event* event) const noexcept {
    if (rdma_ack_cm_event(event) != 0)
        std::fprintf(stderr, "rdma_ack_cm_event failed: %s\n", std::strerror(errno));
}

EventChannel make_channel() {
    return EventChannel{CHECK_PTR(rdma_create_event_channel())};
}

CmId make_id(rdma_event_channel* channel) {
    rdma_cm_id* id = nullptr;
    CHECK_ERRNO(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP));
    return CmId{id};
}

CmQp make_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr& attributes) {
    CHECK_ERRNO(rdma_create_qp(id, pd, &attributes));
    return CmQp{id};
}

}  // namespace rdma
