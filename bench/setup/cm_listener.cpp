#include "bench/setup/cm_listener.hpp"

#include "rdma/capability.hpp"
#include "rdma/cm_events.hpp"
#include "util/check.hpp"

namespace bench {

CmListener::CmListener(util::Address address)
    : channel_(rdma::make_channel()), listener_(rdma::make_id(channel_.get())) {
    constexpr int backlog = 16;
    util::check_errno(rdma_bind_addr(listener_.get(), address.get()),
                      "rdma_bind_addr(" + address.text() + ")");
    CHECK_ERRNO(rdma_listen(listener_.get(), backlog));
}

CmListener::Session::Session(rdma::CmId client)
    : id(std::move(client)), resources(id->verbs, server_access) {}

void CmListener::take_event(util::StopSignal& stop) {
    rdma::CmEvent event = rdma::next_event(channel_.get(), stop, util::Clock::now());
    if (!event)
        return;
    rdma_cm_id* id = event->id;
    switch (event->event) {
        case RDMA_CM_EVENT_CONNECT_REQUEST:
            accept(*sessions_.try_emplace(id, std::make_unique<Session>(rdma::CmId{id}))
                        .first->second);
            break;
        case RDMA_CM_EVENT_DISCONNECTED:
        case RDMA_CM_EVENT_CONNECT_ERROR:
        case RDMA_CM_EVENT_UNREACHABLE:
        case RDMA_CM_EVENT_REJECTED:
            event.reset();  // an id can only be destroyed when its events are acknowledged
            sessions_.erase(id);
            break;
        default:
            break;
    }
}

void CmListener::accept(Session& session) {
    ibv_qp_init_attr attributes = session.resources.qp_attributes();
    session.qp = rdma::make_qp(session.id.get(), session.resources.pd.get(), attributes);
    const auto bytes =
        rdma::Capability{.va = reinterpret_cast<std::uintptr_t>(session.resources.memory.data()),
                         .length = memory_size,
                         .rkey = session.resources.mr->rkey}
            .serialize();
    rdma_conn_param parameters{};
    parameters.private_data = bytes.data();
    parameters.private_data_len = bytes.size();
    parameters.responder_resources = 1;
    parameters.rnr_retry_count = 7;
    CHECK_ERRNO(rdma_accept(session.id.get(), &parameters));
}

}  // namespace bench
