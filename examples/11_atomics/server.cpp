// Step 11, the passive side: one pair of words for all clients, each with a connection of its own.
// They change the words at the same time, and no update is lost, as the device makes one after the
// other. This program only looks at what came of it.
#include <algorithm>
#include <map>
#include <optional>

#include "cm/capability.hpp"
#include "cm/events.hpp"
#include "examples/common/program.hpp"
#include "shared_words.hpp"
#include "verbs/device.hpp"

namespace {

using step11::Key;

struct Options {
    common::ServerOptions server;
    std::uint64_t responder_resources = 4;
};

struct Session {
    cm::Id id;
    cm::Qp qp{};
};

// 1. A queue pair needs the right to atomics, too: rdma_cm gives it, as the request asks for them.
// responder_resources: so many of the peer's READs and atomics this end has in work, and keeps the
// results of.
void accept(Session& session, step11::SharedWords& shared, const rdma_conn_param& request,
            const Options& options, runlog::Log& log) {
    rdma_cm_id* id = session.id.get();
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = shared.completions.cq.get();
    attributes.recv_cq = shared.completions.cq.get();
    attributes.cap = {.max_send_wr = 1,
                      .max_recv_wr = 1,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = 0};
    session.qp = cm::make_qp(id, shared.pd.get(), attributes);
    log.event("qp", verbs::describe(*id->qp, attributes.cap));

    const auto* key = static_cast<const Key*>(request.private_data);
    const bool is_without = request.private_data_len > 0 && *key == Key::WithoutAtomics;
    const cm::Capability capability{
        .va = reinterpret_cast<std::uintptr_t>(&shared.words),
        .length = sizeof(shared.words),
        .rkey = (is_without ? shared.mr_without_atomics : shared.mr)->rkey};
    const auto bytes = capability.serialize();
    rdma_conn_param parameters{};
    parameters.private_data = bytes.data();
    parameters.private_data_len = bytes.size();
    parameters.responder_resources = static_cast<std::uint8_t>(
        std::min<std::uint64_t>({options.responder_resources, request.responder_resources,
                                 static_cast<std::uint64_t>(shared.device.max_qp_rd_atom)}));
    parameters.rnr_retry_count = 7;
    util::check_errno(rdma_accept(id, &parameters), "rdma_accept");
    log.event("exchange", cm::describe(capability, "sent"));
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    const cm::EventChannel channel = cm::make_channel();
    const cm::Id listener = cm::make_id(channel.get());
    util::Address address = options.server.address();
    util::check_errno(rdma_bind_addr(listener.get(), address.get()),
                      "rdma_bind_addr(" + address.text() + ")");
    util::check_errno(rdma_listen(listener.get(), 16), "rdma_listen");
    log.event("ready", {{"address", address.host()}, {"port", address.port()}});

    // 2. As in step 01: all that comes are connections. The first client finds zeros.
    std::optional<step11::SharedWords> shared;
    std::map<rdma_cm_id*, Session> sessions;
    while (cm::Event event = cm::next_event(channel.get(), stop, std::nullopt)) {
        log.event("cm_event", cm::describe(*event));
        rdma_cm_id* id = event->id;
        switch (event->event) {
            case RDMA_CM_EVENT_CONNECT_REQUEST: {
                Session& session = sessions[id];
                session.id.reset(id);
                try {
                    if (!shared)
                        shared.emplace(id->verbs, log);
                    accept(session, *shared, event->param.conn, options, log);
                } catch (const std::exception& error) {  // one client's failure is not the others'
                    log.error(error.what());
                    event.reset();
                    sessions.erase(id);  // destroying the id refuses the client
                }
                break;
            }
            case RDMA_CM_EVENT_ESTABLISHED:
                log.event("device", verbs::describe_device(id->qp));
                log.event("qp_state", verbs::query_state(id->qp));
                log.event("rd_atomic", verbs::query_rd_atomic(id->qp));
                break;
            case RDMA_CM_EVENT_DISCONNECTED:
                log.event("qp_state", verbs::query_state(id->qp));
                [[fallthrough]];
            case RDMA_CM_EVENT_CONNECT_ERROR:
            case RDMA_CM_EVENT_UNREACHABLE:
            case RDMA_CM_EVENT_REJECTED:
                event.reset();  // an id can go only when its events are acknowledged
                sessions.erase(id);
                break;
            default:
                break;
        }
        // 3. The last client has gone: what have they left?
        if (sessions.empty() && shared) {
            shared->write_words(log);
            shared.reset();
        }
    }
    if (shared)
        shared->write_words(log);
    log.note("stopped by a signal");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server", "Step 11, server: two words of memory that all clients change at once.");
    Options options;
    command_line.add(options.server);
    command_line.number("--responder-resources", options.responder_resources, 1, 128,
                        "READs and atomics of each client in work at once");
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        return run(options, log, stop);
    });
}
