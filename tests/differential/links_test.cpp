// The same packets as other kinds of interfaces capture them, and packets of others than us.
#include <cstdlib>

#include <gtest/gtest.h>

#include "bench/traffic.hpp"
#include "differential/made_capture.hpp"
#include "wire/sample_frames.hpp"

namespace {

using differential::MadeCapture;
using wire_test::from_hex;
using wire_test::Network;

std::vector<std::byte> behind(std::string_view header, util::Bytes frame) {
    std::vector<std::byte> bytes = from_hex(header);
    const util::Bytes packet = frame.subspan(wire::Ethernet::size);
    bytes.insert(bytes.end(), packet.begin(), packet.end());
    return bytes;
}

std::string_view ether_type_of(Network network) {
    switch (network) {
        case Network::Ipv4:
            return "0800";
        case Network::Ipv6:
            return "86dd";
        case Network::Grh:
            break;
    }
    return "8915";
}

template <typename Header>
void add_every_opcode(MadeCapture& capture, std::initializer_list<Network> networks,
                      Header header) {
    for (const wire::OpcodeInfo& opcode : wire::opcodes())
        for (const Network network : networks)
            capture.add(behind(header(network),
                               wire::encode(wire_test::sample_packet(opcode, network, 20))));
}

TEST(Links, linux_cooked_captures_are_what_tshark_sees) {
    MadeCapture capture("sll", wire::LinkType::LinuxCooked);
    add_every_opcode(capture, {Network::Ipv4, Network::Ipv6, Network::Grh}, [](Network network) {
        return "0004 0001 0006 525400000202 0000" + std::string(ether_type_of(network));
    });
    capture.compare();
}

TEST(Links, linux_cooked_captures_of_the_second_kind_are_what_tshark_sees) {
    MadeCapture capture("sll2", wire::LinkType::LinuxCooked2);
    add_every_opcode(capture, {Network::Ipv4, Network::Ipv6, Network::Grh}, [](Network network) {
        return std::string(ether_type_of(network)) + "0000 00000002 0001 00 06 525400000202 0000";
    });
    capture.compare();
}

TEST(Links, captures_without_a_link_header_are_what_tshark_sees) {
    MadeCapture capture("raw", wire::LinkType::RawIp);
    add_every_opcode(capture, {Network::Ipv4, Network::Ipv6}, [](Network) { return ""; });
    capture.compare();
}

TEST(Links, a_mixture_of_traffic_is_what_tshark_sees) {
    MadeCapture capture("traffic");
    bench::Traffic traffic;
    const char* frames = std::getenv("TEST_FRAMES");
    for (int i = 0; i < (frames != nullptr ? std::atoi(frames) : 5000); ++i)
        capture.add(traffic.next().bytes);
    capture.compare();
}

}  // namespace
