#include "exchange/channel.hpp"

#include <vector>

#include "util/error.hpp"

namespace exchange {
namespace {

void expect(Channel& channel, MessageType expected, const Patience& patience) {
    std::array<std::byte, header_size> bytes{};
    channel.receive(bytes, patience);
    const Header header = parse_header(bytes);
    if (header.type == MessageType::Refused) {
        std::vector<std::byte> body(header.size);
        channel.receive(body, patience);
        throw util::Error("the peer refuses: " + parse_refusal(body));
    }
    check_type(header.type, expected);
}

void say_and_hear(Channel& channel, MessageType type, const Patience& patience) {
    channel.send(serialize_header(type), patience);
    expect(channel, type, patience);
}

}  // namespace

void send_endpoint(Channel& channel, const Endpoint& endpoint, const Patience& patience) {
    channel.send(serialize(endpoint), patience);
}

Endpoint receive_endpoint(Channel& channel, const Patience& patience) {
    expect(channel, MessageType::Endpoint, patience);
    std::array<std::byte, endpoint_size> body{};
    channel.receive(body, patience);
    const Endpoint endpoint = parse_endpoint(body);
    check_gid(endpoint, channel.peer());
    return endpoint;
}

void meet(Channel& channel, const Patience& patience) {
    say_and_hear(channel, MessageType::Ready, patience);
}

void finish(Channel& channel, const Patience& patience) {
    say_and_hear(channel, MessageType::Done, patience);
}

}  // namespace exchange
