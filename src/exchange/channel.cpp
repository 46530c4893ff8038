#include "exchange/channel.hpp"

namespace exchange {
namespace {

void receive_header(Channel& channel, MessageType expected, const Patience& patience) {
    std::array<std::byte, header_size> header{};
    channel.receive(header, patience);
    check_header(header, expected);
}

}  // namespace

void send_endpoint(Channel& channel, const Endpoint& endpoint, const Patience& patience) {
    channel.send(serialize(endpoint), patience);
}

Endpoint receive_endpoint(Channel& channel, const Patience& patience) {
    receive_header(channel, MessageType::Endpoint, patience);
    std::array<std::byte, endpoint_size> body{};
    channel.receive(body, patience);
    return parse_endpoint(body);
}

void meet(Channel& channel, const Patience& patience) {
    channel.send(serialize_ready(), patience);
    receive_header(channel, MessageType::Ready, patience);
}

}  // namespace exchange
