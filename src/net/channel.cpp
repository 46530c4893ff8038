#include "net/channel.hpp"

#include <vector>

#include "util/error.hpp"

namespace net {
namespace {

void expect(Channel& channel, MessageType expected, const TimeLimit& limit) {
    std::array<std::byte, header_size> bytes{};
    channel.receive(bytes, limit);
    const Header header = parse_header(bytes);
    if (header.type == MessageType::Refused) {
        std::vector<std::byte> body(header.size);
        channel.receive(body, limit);
        throw util::Error("the peer refused the exchange: " + parse_refusal(body));
    }
    check_type(header.type, expected);
}

void say_and_hear(Channel& channel, MessageType type, const TimeLimit& limit) {
    channel.send(serialize_header(type), limit);
    expect(channel, type, limit);
}

}  // namespace

void send_endpoint(Channel& channel, const Endpoint& endpoint, const TimeLimit& limit) {
    channel.send(serialize(endpoint), limit);
}

Endpoint receive_endpoint(Channel& channel, const TimeLimit& limit) {
    expect(channel, MessageType::Endpoint, limit);
    std::array<std::byte, endpoint_size> body{};
    channel.receive(body, limit);
    const Endpoint endpoint = parse_endpoint(body);
    check_gid(endpoint, channel.peer());
    return endpoint;
}

void barrier(Channel& channel, const TimeLimit& limit) {
    say_and_hear(channel, MessageType::Ready, limit);
}

void finish(Channel& channel, const TimeLimit& limit) {
    say_and_hear(channel, MessageType::Done, limit);
}

}  // namespace net
