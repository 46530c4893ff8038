#include "trace/flow/connect.hpp"

#include <variant>

namespace flow {
namespace {

std::optional<wire::Transport> transport_of(const wire::CmReq& request) {
    switch (request.transport_service_type) {
        case 0:
            return wire::Transport::Rc;
        case 1:
            return wire::Transport::Uc;
        case 3:
            if (request.extended_transport == 1)
                return wire::Transport::Xrc;
            break;
        default:
            break;
    }
    return std::nullopt;
}

// Half of the timeout in the message, which is 4.096 us * 2^code.
std::int64_t timeout_of(std::uint8_t code) {
    constexpr std::int64_t unit_ns = 4096;
    return (unit_ns << (code & 31U)) / 2;
}

}  // namespace

std::optional<CommIds> comm_ids(const wire::Cm& message) {
    return std::visit(
        []<typename Body>(const Body& body) -> std::optional<CommIds> {
            CommIds ids;
            if constexpr (requires { body.local_comm_id; })
                ids.local = body.local_comm_id;
            else
                return std::nullopt;
            if constexpr (requires { body.remote_comm_id; })
                ids.remote = body.remote_comm_id;
            return ids;
        },
        message.body);
}

std::optional<Connection> Connects::see(const StreamKey& datagram, const wire::Cm& message) {
    if (const auto* req = message.as<wire::CmReq>()) {
        requests_.put(datagram, req->local_comm_id,
                      {.transport = transport_of(*req),
                       .qpn = req->local_qpn,
                       .starting_psn = req->starting_psn,
                       .path_mtu = req->path_mtu_bytes(),
                       .retry = {timeout_of(req->local_ack_timeout), req->retry_count}});
        return std::nullopt;
    }
    const auto* rep = message.as<wire::CmRep>();
    if (rep == nullptr)
        return std::nullopt;
    const Request* request = requests_.answered_by(datagram, rep->remote_comm_id);
    if (request == nullptr || !request->transport)
        return std::nullopt;
    // In the reply, source and destination are reversed.
    const StreamKey to_passive{.src = datagram.dst,
                               .dst = datagram.src,
                               .dest_qpn = rep->local_qpn,
                               .transport = *request->transport,
                               .network = datagram.network};
    // "Starting PSN": the first PSN that the receiver of the message sends.
    return Connection{.to_passive = to_passive,
                      .to_active = to_passive.reversed(request->qpn),
                      .first_to_passive = rep->starting_psn,
                      .first_to_active = request->starting_psn,
                      .path_mtu = request->path_mtu,
                      .retry = request->retry,
                      .id = std::uint64_t{rep->remote_comm_id} << 32 | rep->local_comm_id};
}

}  // namespace flow
