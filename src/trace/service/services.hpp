// The service of each connection, from its ConnectRequest, and the messages of that service in
// packets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "trace/flow/connect.hpp"
#include "trace/flow/key.hpp"
#include "upper/message.hpp"
#include "upper/service.hpp"
#include "wire/packet.hpp"

namespace service {

/// Services that the user specifies.
struct Told {
    /// For ConnectRequests to this port; overrides upper::service_of_port().
    std::map<std::uint16_t, upper::Channel> by_port;
    /// For packets to this queue pair on any host, if the connection setup was not captured.
    std::map<std::uint32_t, upper::Channel> by_qpn;
};

/// Keeps the latest 8192 streams of known services and 4096 RPC calls; further ones replace older
/// ones. A queue pair reused without a connection manager keeps its service.
class Services {
  public:
    explicit Services(Told told = {}) : told_(std::move(told)) {}

    /// Takes each packet in capture order. Returns the message above RDMA in a SEND's first packet
    /// or in a message of the connection manager, if the service is known; otherwise monostate.
    /// Valid until the next call. Allocates memory only with the first connection of a known
    /// service and with the first RPC call.
    const upper::Message& see(const wire::Packet& packet) {
        if (packet.cm)
            connection_manager(packet);
        else if (knows_streams_ && packet.opcode != nullptr &&
                 packet.opcode->operation == wire::Operation::Send &&
                 packet.opcode->starts_message())
            send(packet);
        else
            return nothing_;
        return message_;
    }

  private:
    struct Stream {
        flow::StreamKey key;
        upper::Channel channel;
        std::uint64_t number = 0;  // of the connection; 0: unused
    };
    // An RPC call. The reply does not name its procedure.
    struct Call {
        flow::StreamKey replies;  // the stream of its reply, without the queue pair
        std::uint32_t xid = 0;
        upper::RpcProcedure procedure;
    };
    static constexpr std::size_t ways = 8;
    static constexpr std::size_t sets = 1024;
    using Set = std::array<Stream, ways>;

    void connection_manager(const wire::Packet& packet);
    void send(const wire::Packet& packet);
    upper::Channel channel_of(const wire::CmReq& request) const;
    /// Returns the service of the request that a message answers.
    upper::Channel asked(const flow::StreamKey& datagram, std::uint32_t remote_comm_id) const;
    Set& set_of(const flow::StreamKey& key) { return streams_[key.hash() % sets]; }
    void set(const flow::StreamKey& key, const upper::Channel& channel);
    void match_calls(const flow::StreamKey& stream, upper::RpcRdma& header);

    Told told_;
    flow::Connects connects_;
    flow::ConnectRequests<upper::Channel> requests_;
    std::vector<Set> streams_;
    bool knows_streams_ = !told_.by_qpn.empty();
    std::vector<Call> calls_;
    std::uint64_t connections_ = 0;
    upper::Message nothing_;
    upper::Message message_;
};

}  // namespace service
