// One end of the connection: its device, memory and queue pair, and the transitions to RTS.
#pragma once

#include <cstdint>
#include <vector>

#include "net/endpoint.hpp"
#include "net/tcp.hpp"
#include "rdma/device.hpp"
#include "rdma/handles.hpp"
#include "tests/faults/options.hpp"

namespace faults {

/// Converts rights such as "write,read,atomic", or "none", to IBV_ACCESS_*. Throws util::Error.
unsigned rights_of(const std::string& names);

class End {
  public:
    /// Creates the objects for a connection over the network of `socket`. `qp_access`:
    /// IBV_ACCESS_*. Throws util::Error, std::system_error.
    End(const net::Socket& socket, const Options& options, unsigned qp_access);

    ibv_pd* pd() const { return pd_.get(); }
    ibv_pd* other_pd() const { return other_pd_.get(); }
    ibv_cq* cq() const { return cq_.get(); }
    ibv_qp* qp() const { return qp_.get(); }
    ibv_qp_type type() const { return type_; }
    const Options& options() const { return options_; }

    /// Returns the endpoint to send to the peer, without memory.
    net::Endpoint own() const;

    void to_init();
    /// Moves the queue pair from INIT to RTS, unless an option prevents it.
    void connect(const net::Endpoint& peer);
    void to_state(ibv_qp_state state);
    void destroy_qp() { qp_.reset(); }

    /// The local buffer for SENDs, WRITEs, READs and receives.
    ibv_sge buffer() const;
    /// UD: sets the destination.
    void address(ibv_send_wr& wr) const;

  private:
    ibv_ah_attr path_to(const net::Endpoint& peer) const;
    void to_rtr(const net::Endpoint& peer);
    void to_rts();

    const Options& options_;
    ibv_qp_type type_;
    unsigned access_;
    rdma::DevicePort device_;
    std::uint8_t gid_index_;
    rdma::Pd pd_;
    rdma::Pd other_pd_;
    std::vector<std::byte> bytes_;
    rdma::Mr buffer_;
    rdma::Cq cq_;
    rdma::Qp qp_;
    rdma::Ah ah_;
    std::uint32_t remote_qpn_ = 0;
    std::uint32_t psn_;
};

}  // namespace faults
