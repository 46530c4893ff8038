// The client of an rdma_cm connection, as step 01 writes it out, for the steps behind it.
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

/// One connection. Every call that fails throws util::Error or std::system_error.
class CmClient {
  public:
    /// Resolves the server's address and the route to it; makes the protection domain and a
    /// completion queue of `completions` entries. The references must outlive the client.
    CmClient(const ClientOptions& options, int completions, runlog::Log& log,
             util::StopSignal& stop);

    ibv_pd* pd() const { return pd_.get(); }
    rdma_cm_id* id() const { return id_.get(); }
    ibv_qp* qp() const { return id_->qp; }
    ibv_cq* cq() const { return completions_->cq.get(); }

    /// An RC queue pair. Receives that must be there for the server's first message are posted
    /// between this and connect().
    void make_qp(const ibv_qp_cap& cap);

    /// Connects, with `private_data` in the request (at most 56 bytes: rdma_connect(3)); the
    /// capability comes in the server's answer.
    rdma::Capability connect(std::span<const std::byte> private_data = {});
    /// The same for a caller that has called rdma_connect(3) itself.
    rdma::Capability await_established();

    /// All of the private data in the server's answer, which rdma_cm pads with zeros; the
    /// capability is its beginning.
    std::span<const std::byte> answer() const { return answer_; }

    /// The next completion, whatever its status; nullopt when --timeout passed or a stop was
    /// requested.
    std::optional<ibv_wc> completion();
    /// The same, until the deadline; and nullopt as soon as the server has ended the connection and
    /// all completions were taken.
    std::optional<ibv_wc> completion_while_connected(util::Deadline deadline);
    /// The completion of the only request outstanding. Throws util::Error where it failed or did
    /// not come, naming the request as `what`.
    void expect_success(std::string_view what);
    /// Where the request is to end in this error. Throws util::Error where it ends in another way.
    void expect_status(ibv_wc_status wanted);

    /// For who waits for several things at once: what to poll for completions, and for the end of
    /// the connection.
    rdma::CompletionQueue& completions() { return *completions_; }
    int events_fd() const { return channel_->fd; }
    /// Takes the connection's events that are there, and says whether the server has ended it.
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
