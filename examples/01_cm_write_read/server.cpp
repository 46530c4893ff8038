// Lesson 01, the server: accepts rdma_cm connections and sends each client a capability. The client
// then writes and reads this program's memory without running any of its instructions.
#include <map>
#include <string>
#include <vector>

#include "examples/common/memory.hpp"
#include "examples/common/program.hpp"
#include "examples/common/tracer.hpp"
#include "rdma/capability.hpp"
#include "rdma/cm_events.hpp"
#include "rdma/handles.hpp"
#include "util/check.hpp"

namespace {

// A client's resources in the order of creation; destroyed in reverse order.
struct Session {
    rdma::CmId id;
    std::vector<std::byte> memory;
    rdma::Pd pd{};
    rdma::Mr mr{};
    rdma::Cq cq{};
    rdma::CmQp qp{};
};

// 3. On a connection request: create PD, memory region, CQ and QP, and accept with the capability
// in the private data.
void accept(Session& session, runlog::Log& log) {
    rdma_cm_id* id = session.id.get();
    std::vector<std::byte>& memory = session.memory;
    session.pd.reset(CHECK_PTR(ibv_alloc_pd(id->verbs)));
    session.mr.reset(CHECK_PTR(
        ibv_reg_mr(session.pd.get(), memory.data(), memory.size(),
                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)));
    session.cq.reset(CHECK_PTR(ibv_create_cq(id->verbs, 1, nullptr, nullptr, 0)));
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = session.cq.get();
    attributes.recv_cq = session.cq.get();
    attributes.cap = {.max_send_wr = 1,
                      .max_recv_wr = 1,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = 0};
    CHECK_ERRNO(rdma_create_qp(id, session.pd.get(), &attributes));
    session.qp.reset(id);

    const rdma::Capability capability{.va = reinterpret_cast<std::uintptr_t>(memory.data()),
                                      .length = memory.size(),
                                      .rkey = session.mr->rkey};
    const auto bytes = capability.serialize();
    rdma_conn_param parameters{};
    parameters.private_data = bytes.data();
    parameters.private_data_len = bytes.size();
    parameters.responder_resources = 1;  // one outstanding READ of the client
    parameters.rnr_retry_count = 7;      // 7: without limit
    CHECK_ERRNO(rdma_accept(id, &parameters));
    log.event("exchange", rdma::describe(capability, "sent"));
}

int run(const common::ServerOptions& options, std::size_t memory_size, runlog::Log& log,
        util::StopSignal& stop) {
    // 1. Listen. An rdma_cm port is a field of its messages, not a UDP port: all packets go to UDP
    // port 4791.
    const rdma::EventChannel channel = rdma::make_channel();
    const rdma::CmId listener = rdma::make_id(channel.get());
    util::Address address = options.address();
    util::check_errno(rdma_bind_addr(listener.get(), address.get()),
                      "rdma_bind_addr(" + address.text() + ")");
    CHECK_ERRNO(rdma_listen(listener.get(), 16));
    log.event("ready", {{"address", address.host()}, {"port", address.port()}});

    // 2. Serve until SIGINT or SIGTERM. One thread is enough: the clients' RDMA operations do not
    // pass through this loop.
    std::map<rdma_cm_id*, Session> sessions;
    while (util::wait_readable(channel->fd, stop, std::nullopt) == util::Ready::input) {
        rdma_cm_event* next = nullptr;
        CHECK_ERRNO(rdma_get_cm_event(channel.get(), &next));
        rdma::CmEvent event{next};  // its destructor calls rdma_ack_cm_event
        rdma_cm_id* id = event->id;
        switch (event->event) {
            case RDMA_CM_EVENT_CONNECT_REQUEST:
                try {
                    sessions[id] = {rdma::CmId{id}, std::vector<std::byte>(memory_size)};
                    accept(sessions[id], log);
                } catch (const std::exception& error) {  // the other clients continue
                    log.error(error.what());
                    event.reset();
                    sessions.erase(id);  // destroying the id rejects the client
                }
                break;
            case RDMA_CM_EVENT_DISCONNECTED:
                // 4. Only now does this program look at what the client wrote.
                log.event("memory", common::describe_memory(sessions.at(id).memory));
                [[fallthrough]];
            case RDMA_CM_EVENT_CONNECT_ERROR:
            case RDMA_CM_EVENT_UNREACHABLE:
            case RDMA_CM_EVENT_REJECTED:
                event.reset();  // an id cannot be destroyed before its events are acknowledged
                sessions.erase(id);
                break;
            default:
                break;
        }
    }
    log.note("stopped by a signal");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server", "Lesson 01, server: exposes memory to each client over rdma_cm.");
    common::ServerOptions options;
    command_line.add(options);
    std::uint64_t memory_size = 1 << 20;
    command_line.number("--memory", memory_size, 1, 1u << 30,
                        "Bytes of memory exposed to each client");
    return command_line.main(argc, argv,
                             common::traced([&](runlog::Log& log, util::StopSignal& stop) {
                                 return run(options, memory_size, log, stop);
                             }));
}
