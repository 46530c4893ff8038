// Lesson 13, the server: one pair of words that all clients change concurrently. The device
// executes the atomics one by one; this program only reads the words at the end.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "examples/common/cm_server.hpp"
#include "examples/common/tracer.hpp"
#include "rdma/handles.hpp"
#include "words.hpp"

namespace {

// What all clients share: the words and the keys for them. Created for the first client, destroyed
// with the last. Throws util::Error if the device does not support atomics.
struct SharedWords {
    ibv_device_attr device;
    rdma::Pd pd;
    lesson13::Words words;
    rdma::Mr mr, mr_without_atomics, mr_with_flush;
    rdma::Cq cq;  // stays empty: no atomic of a client completes at the server

    // REMOTE_ATOMIC is a separate right. Like REMOTE_WRITE it requires LOCAL_WRITE (ibv_reg_mr(3)).
    SharedWords(ibv_context* context, runlog::Log& log)
        : device(lesson13::query_device(context)),
          pd(CHECK_PTR(ibv_alloc_pd(context))),
          mr(CHECK_PTR(ibv_reg_mr(pd.get(), &words, sizeof words,
                                  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC))),
          mr_without_atomics(CHECK_PTR(ibv_reg_mr(
              pd.get(), &words, sizeof words,
              IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ))),
          cq(CHECK_PTR(ibv_create_cq(context, 1, nullptr, nullptr, 0))) {
        lesson13::log_device(context, device, log);
    }

    // Registers the words with the right to FLUSH, and tries whether they are persistent memory.
    void register_for_flush(runlog::Log& log) {
        constexpr int rights =
            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | lesson13::access_flush_global;
        if (!mr_with_flush)
            mr_with_flush.reset(CHECK_PTR(ibv_reg_mr(pd.get(), &words, sizeof words, rights)));
        const rdma::Mr persistent{
            ibv_reg_mr(pd.get(), &words, sizeof words, rights | lesson13::access_flush_persistent)};
        log.note(persistent ? "the words are in persistent memory"
                            : fmt::format("ibv_reg_mr with FLUSH_PERSISTENT failed: {}. The words "
                                          "are in ordinary memory",
                                          strerrorname_np(errno)));
    }

    rdma::Mr& of(lesson13::Key key) {
        switch (key) {
            case lesson13::Key::WithAtomics:
                return mr;
            case lesson13::Key::WithoutAtomics:
                return mr_without_atomics;
            case lesson13::Key::WithFlush:
                return mr_with_flush;
        }
        throw util::Error("the connection request asks for an unknown key.");
    }

    // Logs the words as this host's CPU reads them.
    void log_words(runlog::Log& log) {
        log.event("words", {{"counter", std::atomic_ref(words.counter).load()},
                            {"maximum", std::atomic_ref(words.maximum).load()}});
    }
};

struct Options {
    common::ServerOptions server;
    std::uint64_t responder_resources = 4;
};

struct Session {
    rdma::CmId id;
    rdma::CmQp qp{};
};

// 2. On a connection request: a queue pair, and the capability for the words.
void accept(Session& session, SharedWords& shared, const rdma_conn_param& request,
            const Options& options, runlog::Log& log) {
    rdma_cm_id* id = session.id.get();
    ibv_qp_init_attr init{
        .send_cq = shared.cq.get(),
        .recv_cq = shared.cq.get(),
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    CHECK_ERRNO(rdma_create_qp(id, shared.pd.get(), &init));
    session.qp.reset(id);

    const auto key = request.private_data_len > 0
                         ? *static_cast<const lesson13::Key*>(request.private_data)
                         : lesson13::Key::WithAtomics;
    if (key == lesson13::Key::WithFlush)
        shared.register_for_flush(log);
    const rdma::Capability capability{.va = reinterpret_cast<std::uintptr_t>(&shared.words),
                                      .length = sizeof shared.words,
                                      .rkey = shared.of(key)->rkey};
    const auto bytes = capability.serialize();

    // responder_resources: READs and atomics of the client in flight, whose results this side
    // stores. The request carries the client's initiator_depth. If it is not 0, rdma_cm gives the
    // queue pair the right to atomics, which it needs in addition to the memory's.
    const auto depth =
        std::min<std::uint64_t>({options.responder_resources, request.responder_resources,
                                 static_cast<std::uint64_t>(shared.device.max_qp_rd_atom)});
    rdma_conn_param parameters{.private_data = bytes.data(),
                               .private_data_len = bytes.size(),
                               .responder_resources = static_cast<std::uint8_t>(depth),
                               .rnr_retry_count = 7};
    CHECK_ERRNO(rdma_accept(id, &parameters));
    log.event("exchange", rdma::describe(capability, "sent"));
}

int run(const Options& options, runlog::Log& log, util::StopSignal& stop) {
    // 1. Listen, and serve as in lesson 01. The first client finds zeros.
    const rdma::EventChannel channel = rdma::make_channel();
    const rdma::CmId listener = common::make_listener(channel.get(), options.server, log);
    std::optional<SharedWords> shared;
    std::map<rdma_cm_id*, Session> sessions;
    while (rdma::CmEvent event = rdma::next_event(channel.get(), stop, std::nullopt)) {
        rdma_cm_id* id = event->id;
        if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
            sessions[id].id.reset(id);
            try {
                if (!shared)
                    shared.emplace(id->verbs, log);
                accept(sessions[id], *shared, event->param.conn, options, log);
            } catch (const std::exception& error) {  // the other clients continue
                log.error(error.what());
                event.reset();
                sessions.erase(id);  // destroying the id rejects the client
            }
        } else if (event->event == RDMA_CM_EVENT_ESTABLISHED) {
            lesson13::log_depth(id->qp, log);
        } else if (common::is_end(event->event)) {
            if (event->event == RDMA_CM_EVENT_DISCONNECTED)
                lesson13::log_state(id->qp, log);  // ERR, if a request was refused
            event.reset();  // an id cannot be destroyed before its events are acknowledged
            sessions.erase(id);
        }
        // 3. The last client has disconnected: log the words' final values.
        if (sessions.empty() && shared) {
            shared->log_words(log);
            shared.reset();
        }
    }
    if (shared)
        shared->log_words(log);
    log.note("stopped by a signal");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server",
        "Lesson 13, server: exposes two words of memory that all clients change concurrently.");
    Options options;
    command_line.add(options.server);
    command_line.number("--responder-resources", options.responder_resources, 1, 128,
                        "Outstanding READs and atomics of each client");
    return command_line.main(
        argc, argv, common::traced([&](auto& log, auto& stop) { return run(options, log, stop); }));
}
