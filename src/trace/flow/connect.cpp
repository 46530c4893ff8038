#include "trace/flow/connect.hpp"

namespace flow {
namespace {

// Approximate number of connections in setup at the same time. Each has a slot, which a later
// connection may overwrite.
constexpr std::size_t places = 1024;

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

Connects::Connects() : requests_(places) {}

Connects::Request& Connects::place_of(const Host& from, const Host& to, std::uint32_t comm_id) {
    return requests_[mixed(mixed(from.low, to.low) ^ mixed(from.high, to.high), comm_id) % places];
}

std::optional<Connection> Connects::see(const StreamKey& datagram, const wire::Cm& message) {
    if (const auto* req = message.as<wire::CmReq>()) {
        place_of(datagram.src, datagram.dst, req->local_comm_id) = {
            .from = datagram.src,
            .to = datagram.dst,
            .network = datagram.network,
            .transport = transport_of(*req),
            .comm_id = req->local_comm_id,
            .qpn = req->local_qpn,
            .starting_psn = req->starting_psn,
            .path_mtu = req->path_mtu_bytes(),
            .retry = {timeout_of(req->primary.local_ack_timeout), req->retry_count}};
        return std::nullopt;
    }
    const auto* rep = message.as<wire::CmRep>();
    if (rep == nullptr)
        return std::nullopt;
    // In the reply, source and destination are reversed.
    const Request& request = place_of(datagram.dst, datagram.src, rep->remote_comm_id);
    if (!request.transport || request.from != datagram.dst || request.to != datagram.src ||
        request.network != datagram.network || request.comm_id != rep->remote_comm_id)
        return std::nullopt;
    const StreamKey to_passive{.src = request.from,
                               .dst = request.to,
                               .dest_qpn = rep->local_qpn,
                               .transport = *request.transport,
                               .network = request.network};
    // "Starting PSN": the first PSN that the receiver of the message sends.
    return Connection{.to_passive = to_passive,
                      .to_active = to_passive.reversed(request.qpn),
                      .first_to_passive = rep->starting_psn,
                      .first_to_active = request.starting_psn,
                      .path_mtu = request.path_mtu,
                      .retry = request.retry,
                      .id = std::uint64_t{request.comm_id} << 32 | rep->local_comm_id};
}

}  // namespace flow
