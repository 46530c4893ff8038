// The rdma_cm server as in lesson 01: the listener, and a server that serves one client at a time,
// for steps that do more with each client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "examples/common/program.hpp"
#include "rdma/capability.hpp"
#include "rdma/cm_events.hpp"
#include "rdma/completion.hpp"

namespace common {

/// Returns an id that listens as `options` say; logs "ready". Throws util::Error,
/// std::system_error.
rdma::CmId make_listener(rdma_event_channel* channel, const ServerOptions& options,
                         runlog::Log& log);

/// Returns true if an event of this type ends a connection or reports that it failed.
bool is_end(rdma_cm_event_type type);

class CmServer;

/// A client's connection, from its request on. Every call throws util::Error or std::system_error
/// on failure. The destructor rejects or ends the connection.
class CmSession {
  public:
    /// The private data of the client's request, padded with zeros by rdma_cm.
    std::span<const std::byte> request() const { return request_; }

    ibv_pd* pd() const { return pd_.get(); }
    ibv_qp* qp() const { return id_->qp; }
    rdma_cm_id* id() const { return id_.get(); }

    /// Creates an RC queue pair, and a completion queue for all its requests.
    void make_qp(const ibv_qp_cap& cap);
    /// Accepts with the capability as private data. The client may send from then on; its device
    /// retries `rnr_retries` times if no receive is posted; 7: without limit.
    void accept(const rdma::Capability& capability, std::uint8_t rnr_retries = 7);
    /// Waits until the client confirms that the connection is established.
    void await_established();

    ibv_cq* cq() const { return completions_->cq.get(); }

    /// Waits a millisecond. Returns false if the client has disconnected or a stop was requested;
    /// completions may still be left.
    bool stays_connected();

  private:
    friend CmServer;
    CmSession(CmServer& server, rdma::CmId id, std::vector<std::byte> request);

    CmServer& server_;
    rdma::CmId id_;
    std::vector<std::byte> request_;
    rdma::Pd pd_;
    std::optional<rdma::CompletionQueue> completions_;
    rdma::CmQp qp_;
    bool is_gone_ = false;
};

class CmServer {
  public:
    /// Listens. The references must outlive the server.
    CmServer(const ServerOptions& options, runlog::Log& log, util::StopSignal& stop);

    /// Serves one client after the other until a stop is requested. Further clients wait. A failure
    /// with one client is logged, and the next one is served.
    void serve_each(const std::function<void(CmSession&)>& serve);

  private:
    friend CmSession;
    struct Request {
        rdma::CmId id;
        std::vector<std::byte> private_data;
    };

    /// Returns null if a stop was requested.
    std::unique_ptr<CmSession> next_client();
    /// Takes an event that arrives before the deadline, queues requests for next_client(), and
    /// returns the event's type if it is about `id`.
    std::optional<rdma_cm_event_type> take_event(const rdma_cm_id* id, util::Deadline deadline);

    runlog::Log& log_;
    util::StopSignal& stop_;
    rdma::EventChannel channel_;
    rdma::CmId listener_;
    std::deque<Request> waiting_;
};

}  // namespace common
