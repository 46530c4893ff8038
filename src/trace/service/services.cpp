#include "trace/service/services.hpp"

#include <algorithm>

namespace service {
namespace {

constexpr std::size_t call_places = 4096;

}  // namespace

upper::Channel Services::channel_of(const wire::CmReq& request) const {
    if (!request.ip_service)
        return {};
    const auto told = told_.by_port.find(request.ip_service->port);
    upper::Channel channel =
        told != told_.by_port.end()
            ? told->second
            : upper::Channel{.service = upper::service_of_port(request.ip_service->port)};
    if (const auto message = upper::parse(channel.service, wire::Cm{{}, request});
        const auto* nvme = message.as<upper::NvmeCmRequest>())
        channel.queue_id = nvme->queue_id;
    return channel;
}

upper::Channel Services::asked(const flow::StreamKey& datagram,
                               std::uint32_t remote_comm_id) const {
    const upper::Channel* channel = requests_.answered_by(datagram, remote_comm_id);
    return channel == nullptr ? upper::Channel{} : *channel;
}

void Services::set(const flow::StreamKey& key, const upper::Channel& channel) {
    const bool is_known = channel.service != upper::Service::None;
    if (streams_.empty()) {
        if (!is_known)
            return;
        streams_.resize(sets);
        knows_streams_ = true;
    }
    Set& set = set_of(key);
    const auto same = std::ranges::find_if(
        set, [&](const Stream& stream) { return stream.number != 0 && stream.key == key; });
    if (same == set.end() && !is_known)
        return;
    Stream& place = same != set.end() ? *same : *std::ranges::min_element(set, {}, &Stream::number);
    place = is_known ? Stream{key, channel, connections_} : Stream{};
}

void Services::connection_manager(const wire::Packet& packet) {
    message_ = {};
    const auto datagram = flow::StreamKey::of(packet);
    if (!datagram)
        return;
    const auto connection = connects_.see(*datagram, *packet.cm);
    upper::Service service{};
    if (const auto* req = packet.cm->as<wire::CmReq>()) {
        const upper::Channel channel = channel_of(*req);
        service = channel.service;
        requests_.put(*datagram, req->local_comm_id, channel);
    } else if (const auto* rep = packet.cm->as<wire::CmRep>()) {
        const auto channel = asked(*datagram, rep->remote_comm_id);
        service = channel.service;
        if (connection) {
            ++connections_;
            set(connection->to_passive, channel);
            set(connection->to_active, channel);
        }
    } else if (const auto* rej = packet.cm->as<wire::CmRej>()) {
        service = asked(*datagram, rej->remote_comm_id).service;
    }
    message_ = upper::parse(service, *packet.cm);
}

// A reply goes to another queue pair, between the same hosts.
void Services::match_calls(const flow::StreamKey& stream, upper::RpcRdma& header) {
    if (!header.rpc)
        return;
    if (calls_.empty())
        calls_.resize(call_places);
    flow::StreamKey replies = header.rpc->is_reply ? stream : stream.reversed(0);
    replies.dest_qpn = 0;
    Call& place = calls_[flow::mixed(replies.hash(), header.xid) % call_places];
    if (!header.rpc->is_reply)
        place = {replies, header.xid, header.rpc->procedure.value_or(upper::RpcProcedure{})};
    else if (place.replies == replies && place.xid == header.xid)
        header.rpc->answers(place.procedure);
}

void Services::send(const wire::Packet& packet) {
    message_ = {};
    // The payload length is known only if all headers are.
    const auto key = packet.icrc ? flow::StreamKey::of(packet) : std::nullopt;
    if (!key)
        return;
    if (!streams_.empty()) {
        const Set& set = set_of(*key);
        const auto found = std::ranges::find_if(
            set, [&](const Stream& stream) { return stream.number != 0 && stream.key == *key; });
        if (found != set.end())
            message_ = upper::parse(found->channel, packet.payload, packet.payload_length);
    }
    if (message_.body.index() == 0)
        if (const auto told = told_.by_qpn.find(key->dest_qpn); told != told_.by_qpn.end())
            message_ = upper::parse(told->second, packet.payload, packet.payload_length);
    if (auto* header = std::get_if<upper::RpcRdma>(&message_.body))
        match_calls(*key, *header);
}

}  // namespace service
