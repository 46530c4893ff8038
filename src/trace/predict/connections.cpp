#include "trace/predict/connections.hpp"

#include <algorithm>
#include <unordered_map>

namespace predict {
namespace {

constexpr std::size_t none = ReliablePacket::no_connection;

// By stream number: the connection that its requests belong to, and the stream of its responses.
struct Directions {
    std::size_t requests = none;
    std::uint64_t peer = 0;
    flow::PathMtu path_mtu = 0;
};
using Streams = std::unordered_map<std::uint64_t, Directions>;

void add_request(ReliablePacket& packet, Directions& stream, std::vector<Connection>& found) {
    if (stream.requests == none) {
        stream.requests = found.size();
        found.push_back(
            {packet.source, packet.destination, packet.dest_qpn, packet.psn, stream.path_mtu});
    }
    packet.connection = stream.requests;
    Connection& connection = found[stream.requests];
    if (packet.psn.is_before(connection.first_psn))
        connection.first_psn = packet.psn;
}

}  // namespace

std::vector<Connection> connect(std::vector<ReliablePacket>& packets,
                                const flow::Tracker& tracker) {
    Streams streams;
    tracker.for_each_stream([&](const flow::StreamFacts& facts) {
        streams[facts.number] = {.peer = facts.peer, .path_mtu = facts.path_mtu};
    });
    std::vector<Connection> connections;
    for (ReliablePacket& packet : packets) {
        const auto stream = streams.find(packet.stream);
        if (stream == streams.end())
            continue;
        if (!packet.is_response())
            add_request(packet, stream->second, connections);
        else if (const auto peer = streams.find(stream->second.peer); peer != streams.end())
            packet.connection = peer->second.requests;
    }
    for (ReliablePacket& packet : packets) {
        if (packet.connection == none)
            continue;
        const Connection& connection = connections[packet.connection];
        packet.offset = distance(connection.first_psn, packet.psn);
        packet.psns = packet.psn_count(connection.path_mtu);
    }
    return connections;
}

}  // namespace predict
