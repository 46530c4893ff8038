// The client of an rdma_cm connection as in lesson 01, for later lessons.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "examples/common/program.hpp"
#include "rdma/capability.hpp"
#include "rdma/cm_events.hpp"
#include "rdma/completion.hpp"

namespace common {

/// A connection. Every call throws util::Error or std::system_error on failure.
class CmClient {
  public:
    /// Resolves the server's address and route; allocates the protection domain and a completion
    /// queue with `completions` entries. The references must outlive the client.
    CmClient(const ClientOptions& options, int completions, runlog::Log& log,
             util::StopSignal& stop);

    ibv_pd* pd() const { return pd_.get(); }
    rdma_cm_id* id() const { return id_.get(); }
    ibv_qp* qp() const { return id_->qp; }
    ibv_cq* cq() const { return completions_->cq.get(); }

    /// Creates an RC queue pair. Receives for the server's first message must be posted between
    /// this call and connect().
    void make_qp(const ibv_qp_cap& cap);

    /// Connects and returns the capability in the server's reply. `private_data` goes into the
    /// request (at most 56 bytes: rdma_connect(3)).
    rdma::Capability connect(std::span<const std::byte> private_data = {});
    /// The same, if the caller has called rdma_connect(3) itself.
    rdma::Capability await_established();

    /// The private data of the server's reply, padded with zeros by rdma_cm; it begins with the
    /// capability.
    std::span<const std::byte> answer() const { return answer_; }

    /// Returns the next completion, whatever its status; nullopt after --timeout or if a stop was
    /// requested.
    std::optional<ibv_wc> completion();
    /// The same, until the deadline. Also returns nullopt once the server has disconnected and all
    /// completions were polled.
    std::optional<ibv_wc> completion_while_connected(util::Deadline deadline);
    /// Waits for the completion of the only outstanding request. Throws util::Error, with `what` as
    /// the request's name, if it failed or timed out.
    void expect_success(std::string_view what);
    /// Throws util::Error if the request completes with another status.
    void expect_status(ibv_wc_status wanted);

    /// For callers that wait for several things: the completion queue to poll, and the descriptor
    /// that becomes readable when the connection ends.
    rdma::CompletionQueue& completions() { return *completions_; }
    int events_fd() const { return channel_->fd; }
    /// Processes pending connection events. Returns true if the server has disconnected.
    bool has_ended();

    void disconnect();

  private:
    rdma::CmEvent expect(rdma_cm_event_type wanted);

    const ClientOptions& options_;
    runlog::Log& log_;
    util::StopSignal& stop_;
    util::Address server_;
    rdma::EventChannel channel_;
    rdma::CmId id_;
    rdma::Pd pd_;
    std::optional<rdma::CompletionQueue> completions_;
    rdma::CmQp qp_;
    std::vector<std::byte> answer_;
    bool has_ended_ = false;
};

}  // namespace common
