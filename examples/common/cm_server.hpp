// The server of rdma_cm, as step 01 writes it out: listening, and a server for steps that serve
// one client after the other and have work of their own with each.
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

/// An id that listens where `options` say; logs "ready". Throws util::Error or std::system_error.
rdma::CmId make_listener(rdma_event_channel* channel, const ServerOptions& options,
                         runlog::Log& log);

/// Whether an event of this type ends a connection, or says that it was not made.
bool is_end(rdma_cm_event_type type);

class CmServer;

/// One client's connection, from its request on. Every call that fails throws util::Error or
/// std::system_error; destroying it refuses or ends the connection.
class CmSession {
  public:
    /// What the client sent with its request. rdma_cm pads it with zeros.
    std::span<const std::byte> request() const { return request_; }

    ibv_pd* pd() const { return pd_.get(); }
    ibv_qp* qp() const { return id_->qp; }
    rdma_cm_id* id() const { return id_.get(); }

    /// An RC queue pair, and a completion queue for all its requests.
    void make_qp(const ibv_qp_cap& cap);
    /// Accepts with the capability as private data. The client may send from here on, and its
    /// device tries `rnr_retries` times again where no receive is posted; 7: without end.
    void accept(const rdma::Capability& capability, std::uint8_t rnr_retries = 7);
    /// Waits until the client says that the connection is up.
    void await_established();

    ibv_cq* cq() const { return completions_->cq.get(); }

    /// Waits a millisecond, and says whether the client is still connected. False as well when a stop
    /// was requested. Completions may be left in either case.
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

    /// Serves one client after the other until a stop is requested. One that asks while another is
    /// served waits; what goes wrong with one is logged, and the next one is served.
    void serve_each(const std::function<void(CmSession&)>& serve);

  private:
    friend CmSession;
    struct Request {
        rdma::CmId id;
        std::vector<std::byte> private_data;
    };

    /// Null when a stop was requested.
    std::unique_ptr<CmSession> next_client();
    /// Takes an event that is there or comes before the deadline, keeps requests for
    /// next_client(), and returns the type of one that is about `id`.
    std::optional<rdma_cm_event_type> take_event(const rdma_cm_id* id, util::Deadline deadline);

    runlog::Log& log_;
    util::StopSignal& stop_;
    rdma::EventChannel channel_;
    rdma::CmId listener_;
    std::deque<Request> waiting_;
};

}  // namespace common
