// Which service each connection carries, by the ConnectRequest that asked for it, and what that
// service says in a packet.
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

/// What a user says beside what the packets do.
struct Told {
    /// Of a ConnectRequest for this port, in place of what upper::service_of_port() says.
    std::map<std::uint16_t, upper::Channel> by_port;
    /// Of packets to this queue pair, whatever the host: for a connection that was not seen being
    /// made.
    std::map<std::uint32_t, upper::Channel> by_qpn;
};

/// Keeps the latest 8192 streams of known services and 4096 RPC calls; one more of them takes the
/// place of an older one. A queue pair that is used again without a connection manager keeps its service.
class Services {
  public:
    explicit Services(Told told = {}) : told_(std::move(told)) {}

    /// Each packet of the capture in order. What it says above RDMA: of a SEND's first packet, or of
    /// a message of the connection manager, of a known service; monostate for any other. Valid until
    /// the next call. Allocates with the first connection of a known service and the first
    /// RPC call, and never again.
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
    // A request that may still be replied to.
    struct Request {
        flow::Host from;
        flow::Host to;
        flow::Network network{};
        std::uint32_t comm_id = 0;
        upper::Channel channel;
    };
    struct Stream {
        flow::StreamKey key;
        upper::Channel channel;
        std::uint64_t number = 0;  // of the connection; 0: none here
    };
    // A call of RPC, which its reply does not name.
    struct Call {
        flow::StreamKey replies;  // the stream of its reply, but for the queue pair
        std::uint32_t xid = 0;
        upper::RpcProcedure procedure;
    };
    static constexpr std::size_t ways = 8;
    static constexpr std::size_t sets = 1024;
    using Set = std::array<Stream, ways>;

    void connection_manager(const wire::Packet& packet);
    void send(const wire::Packet& packet);
    upper::Channel channel_of(const wire::CmReq& request) const;
    Request& place_of(const flow::Host& from, const flow::Host& to, std::uint32_t comm_id);
    /// The service that was asked for with `comm_id` by `from`.
    upper::Channel asked(const flow::Host& from, const flow::Host& to, flow::Network network,
                         std::uint32_t comm_id);
    Set& set_of(const flow::StreamKey& key) { return streams_[key.hash() % sets]; }
    void set(const flow::StreamKey& key, const upper::Channel& channel);
    void match_calls(const flow::StreamKey& stream, upper::RpcRdma& header);

    Told told_;
    flow::Connects connects_;
    std::vector<Request> requests_;
    std::vector<Set> streams_;
    bool knows_streams_ = !told_.by_qpn.empty();
    std::vector<Call> calls_;
    std::uint64_t connections_ = 0;
    upper::Message nothing_;
    upper::Message message_;
};

}  // namespace service
