// Input: a message of the connection manager, as its attribute and its data, which are padded with
// zeros.
#include <algorithm>
#include <cstdint>

#include "filter/json.hpp"
#include "fuzz/check.hpp"
#include "wire/packet_invariants.hpp"
#include "wire/sample_frames.hpp"
#include "wire/text/summary.hpp"

namespace {

std::string json_of(const wire::Packet& packet, util::Bytes frame) {
    std::string text;
    std::string scratch;
    filter::append_json(text, {1, {}, packet, frame, frame.size(), scratch});
    return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
    constexpr std::size_t head = 2;
    if (size < head)
        return 0;
    const auto attribute = static_cast<std::uint16_t>(input[0] << 8 | input[1]);
    std::array<std::byte, wire::Mad::data_size> data{};
    const auto given = std::as_bytes(std::span(input, size)).subspan(head);
    std::ranges::copy(given.first(std::min(given.size(), data.size())), data.begin());

    const auto cm = wire::Cm::parse(attribute, data);
    fuzz::require(wire_test::is_inside(cm, data), "the message's data lie in the datagram");
    fuzz::require(!wire::cm_details(cm).empty(), "a message has words");

    const auto mad = wire_test::cm_mad(static_cast<wire::CmAttribute>(attribute), data);
    const auto frame = wire::encode(wire_test::cm_packet(mad, wire_test::Network::Ipv4));
    fuzz::look_at(frame, wire::LinkType::Ethernet, frame.size());
    const auto packet = wire::decode(frame, wire::LinkType::Ethernet);
    auto with_message = packet;
    with_message.cm = cm;
    fuzz::require(packet.cm && json_of(packet, frame) == json_of(with_message, frame),
                  "a message is the same in its packet");
    return 0;
}
