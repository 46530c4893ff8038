// The functions of librdmacm that change something, in the order of <rdma/rdma_cma.h>. Their verbs
// calls are logged where they call libibverbs.
#include <rdma/rdma_cma.h>

#include "rocetrace/interpose/real.hpp"
#include "rocetrace/interpose/sink.hpp"

namespace interpose {
namespace {

// librdmacm also calls its own functions by their exported names: only the calls of the program
// itself are logged.
class Nesting {
  public:
    Nesting() { ++depth; }
    ~Nesting() { --depth; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    Nesting(Nesting&&) = delete;
    Nesting& operator=(Nesting&&) = delete;

    static bool is_the_programs() { return depth == 1; }

  private:
    [[gnu::tls_model("initial-exec")]] static thread_local unsigned depth;
};
thread_local unsigned Nesting::depth = 0;

using CmCall = EventWriter<"cm_call">;

void add_id(CmCall& event, const rdma_cm_id* id) {
    if (id == nullptr)
        return;
    event.add(key::id, address_of(id));
    if (id->qp != nullptr)
        event.add(key::qpn, id->qp->qp_num);
}

// What the event says about the call, which `add` adds to it.
template <typename Add>
CmCall arguments_of(const rdma_cm_id* id, Add add) {
    CmCall arguments;
    add_id(arguments, id);
    add(arguments);
    return arguments;
}

int cm_done(const OpenCall& call, int rc, const CmCall& arguments) {
    if (!Nesting::is_the_programs())
        return rc;
    CmCall event;
    event.add(key::call, call.name()).put_fields(arguments);
    return done(call, rc, event);
}

constexpr auto nothing = [](CmCall&) {};

// Calls the real function, and logs the call with what `add` adds to the event. The queue pair may
// be the result of the call.
template <typename Add, typename... Parameters, typename... Arguments>
int traced_with(Add add, OpenCall& call, int (*real)(rdma_cm_id*, Parameters...), rdma_cm_id* id,
                Arguments... arguments) {
    const Nesting nesting;
    call.with(arguments_of(id, add));
    const int rc = real(id, arguments...);
    return cm_done(call, rc, arguments_of(id, add));
}

template <typename... Parameters, typename... Arguments>
int traced(OpenCall& call, int (*real)(rdma_cm_id*, Parameters...), rdma_cm_id* id,
           Arguments... arguments) {
    return traced_with(nothing, call, real, id, arguments...);
}

// Adds an address to the event.
auto with(CmCall::Own<runlog::AddressKey> own, const sockaddr* address) {
    return [=](CmCall& event) { event.add(own, address); };
}

void log_event(const OpenCall& call, const rdma_cm_event& got) {
    EventWriter<"cm_event"> event;
    event.add(key::cm_type, got.event).add(key::cm_status, got.status);
    if (got.id != nullptr) {
        event.add(key::id, address_of(got.id));
        if (got.event == RDMA_CM_EVENT_CONNECT_REQUEST)
            event.add(key::peer, rdma_get_peer_addr(got.id));
        if (got.id->qp != nullptr)
            event.add(key::qpn, got.id->qp->qp_num);
    }
    call.log(event);
}

}  // namespace

#pragma GCC visibility push(default)

extern "C" {

rdma_event_channel* rdma_create_event_channel() {
    REAL(cm, rdma_create_event_channel, "RDMACM_1.0");
    const Nesting nesting;
    rdma_event_channel* channel = real();
    const int error = errno;
    if (channel == nullptr && Nesting::is_the_programs())
        call.log_failure(error);
    errno = error;
    return channel;
}

int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context,
                   rdma_port_space space) {
    REAL(cm, rdma_create_id, "RDMACM_1.0");
    const Nesting nesting;
    const int rc = real(channel, id, context, space);
    return cm_done(call, rc, arguments_of(rc == 0 ? *id : nullptr, [&](CmCall& event) {
                       event.add(key::port_space, space);
                   }));
}

int rdma_create_ep(rdma_cm_id** id, rdma_addrinfo* info, ibv_pd* pd, ibv_qp_init_attr* attr) {
    REAL(cm, rdma_create_ep, "RDMACM_1.0");
    const Nesting nesting;
    const int rc = real(id, info, pd, attr);
    return cm_done(call, rc, arguments_of(rc == 0 ? *id : nullptr, nothing));
}

void rdma_destroy_ep(rdma_cm_id* id) {
    REAL(cm, rdma_destroy_ep, "RDMACM_1.0");
    const Nesting nesting;
    const CmCall event = arguments_of(id, nothing);
    call.with(event);
    real(id);
    cm_done(call, 0, event);
}

int rdma_destroy_id(rdma_cm_id* id) {
    REAL(cm, rdma_destroy_id, "RDMACM_1.0");
    const Nesting nesting;
    const CmCall event = arguments_of(id, nothing);
    call.with(event);
    return cm_done(call, real(id), event);
}

int rdma_bind_addr(rdma_cm_id* id, sockaddr* address) {
    REAL(cm, rdma_bind_addr, "RDMACM_1.0");
    return traced_with(with(key::address, address), call, real, id, address);
}

int rdma_resolve_addr(rdma_cm_id* id, sockaddr* source, sockaddr* destination, int timeout_ms) {
    REAL(cm, rdma_resolve_addr, "RDMACM_1.0");
    const auto add = [&](CmCall& event) {
        event.add(key::local, source);
        event.add(key::peer, destination);
    };
    return traced_with(add, call, real, id, source, destination, timeout_ms);
}

int rdma_resolve_route(rdma_cm_id* id, int timeout_ms) {
    REAL(cm, rdma_resolve_route, "RDMACM_1.0");
    return traced(call, real, id, timeout_ms);
}

int rdma_create_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* attr) {
    REAL(cm, rdma_create_qp, "RDMACM_1.0");
    return traced(call, real, id, pd, attr);
}

int rdma_create_qp_ex(rdma_cm_id* id, ibv_qp_init_attr_ex* attr) {
    REAL(cm, rdma_create_qp_ex, "RDMACM_1.0");
    return traced(call, real, id, attr);
}

void rdma_destroy_qp(rdma_cm_id* id) {
    REAL(cm, rdma_destroy_qp, "RDMACM_1.0");
    const Nesting nesting;
    const CmCall event = arguments_of(id, nothing);
    call.with(event);
    real(id);
    cm_done(call, 0, event);
}

int rdma_connect(rdma_cm_id* id, rdma_conn_param* param) {
    REAL(cm, rdma_connect, "RDMACM_1.0");
    const auto add = [&](CmCall& event) {
        event.add(key::port_space, id->ps);
        if (param != nullptr)
            event.add(key::retry_cnt, param->retry_count)
                .add(key::rnr_retry, param->rnr_retry_count)
                .add(key::private_data_len, param->private_data_len)
                .add(key::responder_resources, param->responder_resources)
                .add(key::initiator_depth, param->initiator_depth);
    };
    return traced_with(add, call, real, id, param);
}

int rdma_establish(rdma_cm_id* id) {
    REAL(cm, rdma_establish, "RDMACM_1.2");
    return traced(call, real, id);
}

int rdma_listen(rdma_cm_id* id, int backlog) {
    REAL(cm, rdma_listen, "RDMACM_1.0");
    const auto add = [&](CmCall& event) {
        event.add(key::address, rdma_get_local_addr(id));
        if (backlog > 0)  // the kernel replaces others by its own limit
            event.add(key::backlog, backlog);
    };
    return traced_with(add, call, real, id, backlog);
}

int rdma_get_request(rdma_cm_id* listen, rdma_cm_id** id) {
    REAL_WAIT(cm, rdma_get_request, "RDMACM_1.0");
    const Nesting nesting;
    call.with(arguments_of(listen, nothing));
    const int rc = real(listen, id);
    return cm_done(call, rc, arguments_of(rc == 0 ? *id : listen, [&](CmCall& event) {
                       if (rc == 0)
                           event.add(key::peer, rdma_get_peer_addr(*id));
                   }));
}

int rdma_accept(rdma_cm_id* id, rdma_conn_param* param) {
    REAL(cm, rdma_accept, "RDMACM_1.0");
    // retry_count is the other end's.
    const auto add = [&](CmCall& event) {
        event.add(key::port_space, id->ps);
        if (param == nullptr)
            return;
        event.add(key::rnr_retry, param->rnr_retry_count)
            .add(key::responder_resources, param->responder_resources)
            .add(key::initiator_depth, param->initiator_depth);
    };
    if (param != nullptr)  // only for the event "failed"
        call.with(CmCall().add(key::private_data_len, param->private_data_len));
    return traced_with(add, call, real, id, param);
}

int rdma_reject(rdma_cm_id* id, const void* data, std::uint8_t bytes) {
    REAL(cm, rdma_reject, "RDMACM_1.0");
    return traced(call, real, id, data, bytes);
}

int rdma_disconnect(rdma_cm_id* id) {
    REAL(cm, rdma_disconnect, "RDMACM_1.0");
    return traced(call, real, id);
}

int rdma_join_multicast(rdma_cm_id* id, sockaddr* address, void* context) {
    REAL(cm, rdma_join_multicast, "RDMACM_1.0");
    return traced_with(with(key::address, address), call, real, id, address, context);
}

int rdma_join_multicast_ex(rdma_cm_id* id, rdma_cm_join_mc_attr_ex* attr, void* context) {
    REAL(cm, rdma_join_multicast_ex, "RDMACM_1.1");
    return traced_with(with(key::address, attr->addr), call, real, id, attr, context);
}

int rdma_leave_multicast(rdma_cm_id* id, sockaddr* address) {
    REAL(cm, rdma_leave_multicast, "RDMACM_1.0");
    return traced_with(with(key::address, address), call, real, id, address);
}

int rdma_migrate_id(rdma_cm_id* id, rdma_event_channel* channel) {
    REAL(cm, rdma_migrate_id, "RDMACM_1.0");
    return traced(call, real, id, channel);
}

int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
    REAL_WAIT(cm, rdma_get_cm_event, "RDMACM_1.0");
    const int rc = real(channel, event);
    const int error = errno;
    if (rc == 0)
        log_event(call, **event);
    else if (error != EAGAIN && error != EINTR)
        call.log_failure(error);
    errno = error;
    return rc;
}

}  // extern "C"

#pragma GCC visibility pop

}  // namespace interpose
