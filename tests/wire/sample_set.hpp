// Frames of all kinds that the decoder supports: every opcode over every network, and every message
// of the connection manager after every link header.
#pragma once

#include <random>
#include <string_view>
#include <vector>

#include "wire/sample_frames.hpp"

namespace wire_test {

struct SampleFrame {
    wire::LinkType link = wire::LinkType::Ethernet;
    std::vector<std::byte> bytes;
};

/// Returns the IP packet of an untagged Ethernet frame after another link header.
inline SampleFrame behind(wire::LinkType link, std::string_view header,
                          const std::vector<std::byte>& ethernet) {
    SampleFrame sample{link, from_hex(header)};
    sample.bytes.insert(sample.bytes.end(), ethernet.begin() + wire::Ethernet::size,
                        ethernet.end());
    return sample;
}

/// Returns first the opcodes in the order of the table, with zero, one and two VLAN tags in turn,
/// then the messages, with random data that are the same in every run. All frames are complete.
inline std::vector<SampleFrame> sample_set() {
    using wire::LinkType;
    std::vector<SampleFrame> all;
    for (const wire::OpcodeInfo& opcode : all_opcodes())
        for (const auto network : all_networks) {
            auto packet = sample_packet(opcode, network, 7);
            packet.vlans.count = static_cast<std::uint8_t>(all.size() % 3);
            all.push_back({LinkType::Ethernet, wire::encode(packet)});
        }
    std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same frames in every run
    std::vector<std::byte> data(wire::Mad::data_size);
    for (unsigned attribute = 0x10; attribute < 0x1b; ++attribute) {
        for (std::byte& byte : data)
            byte = static_cast<std::byte>(random());
        const auto mad = cm_mad(static_cast<wire::CmAttribute>(attribute), data);
        const auto frame = wire::encode(cm_packet(mad, Network::Ipv4));
        all.push_back({LinkType::Ethernet, frame});
        all.push_back(behind(LinkType::RawIp, "", frame));
        all.push_back(
            behind(LinkType::LinuxCooked, "0000 0001 0006 525400000202 0000 0800", frame));
        all.push_back(behind(LinkType::LinuxCooked2,
                             "0800 0000 00000002 0001 00 06 525400000202 0000", frame));
    }
    return all;
}

}  // namespace wire_test
