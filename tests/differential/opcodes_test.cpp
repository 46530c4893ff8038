// Synthetic packets of every opcode over every network with random content: rocecap's JSON is
// compared with tshark's fields.
#include <random>

#include <gtest/gtest.h>

#include "differential/made_capture.hpp"
#include "wire/sample_frames.hpp"

namespace {

using differential::MadeCapture;

wire::Vlans tags(std::size_t count) {
    wire::Vlans vlans;
    vlans.count = static_cast<std::uint8_t>(count);
    vlans.tags[0] = {.priority = 5, .dei = true, .id = 0x123, .type = 0};
    vlans.tags[1] = {.priority = 2, .dei = false, .id = 0xabc, .type = 0};
    return vlans;
}

TEST(Opcodes, every_one_over_every_network_with_every_padding_is_what_tshark_sees) {
    MadeCapture capture("opcodes");
    for (const wire::OpcodeInfo& opcode : wire::opcodes())
        for (const auto network : wire_test::all_networks)
            for (const std::size_t vlans : {0U, 1U, 2U})
                for (const std::size_t size : {0U, 1U, 2U, 3U, 64U}) {
                    auto packet = wire_test::sample_packet(opcode, network, size);
                    packet.vlans = tags(vlans);
                    capture.add(packet);
                }
    capture.compare();
}

TEST(Opcodes, every_syndrome_of_an_acknowledgement_is_what_tshark_sees) {
    MadeCapture capture("syndromes");
    constexpr std::uint8_t rc_acknowledge = 0x11;
    for (unsigned syndrome = 0; syndrome < 256; ++syndrome) {
        auto packet = wire_test::sample_packet(*wire::find_opcode(rc_acknowledge),
                                               wire_test::Network::Ipv4, 0);
        packet.aeth = wire::Aeth{.syndrome = static_cast<std::uint8_t>(syndrome), .msn = syndrome};
        capture.add(packet);
    }
    capture.compare();
}

TEST(Opcodes, any_value_of_any_field_is_what_tshark_sees) {
    MadeCapture capture("values");
    std::mt19937_64 random(1);  // NOLINT(cert-msc51-cpp): the same packets in every run
    const auto any = [&]<typename T>(T& value) { value = static_cast<T>(random()); };
    const auto any24 = [&](std::uint32_t& value) { value = random() & 0xffffff; };
    for (const wire::OpcodeInfo& opcode : wire::opcodes())
        for (int i = 0; i < 20; ++i) {
            const auto network = wire_test::all_networks[random() % 3];
            auto packet = wire_test::sample_packet(opcode, network, random() % 100);
            wire::Bth& bth = *packet.bth;
            bth.se = random() % 2 == 0;
            bth.m = random() % 2 == 0;
            bth.a = random() % 2 == 0;
            any(bth.p_key);
            any24(bth.dest_qpn);
            // The payload of a packet to queue pair 1 would be decoded as a MAD.
            bth.dest_qpn |= 2;
            bth.psn = wire::Psn(static_cast<std::uint32_t>(random()));
            if (packet.reth) {
                any(packet.reth->va);
                any(packet.reth->rkey);
                any(packet.reth->dmalen);
            }
            if (packet.atomic_eth) {
                any(packet.atomic_eth->va);
                any(packet.atomic_eth->swapdt);
                any(packet.atomic_eth->cmpdt);
            }
            if (packet.deth) {
                any(packet.deth->q_key);
                any24(packet.deth->src_qpn);
            }
            if (packet.immdt)
                any(packet.immdt->value);
            if (packet.ieth)
                any(packet.ieth->rkey);
            if (packet.udp)  // a dynamic port, as in RoCE: tshark decodes others as other protocols
                packet.udp->src_port = static_cast<std::uint16_t>(0xc000 | (random() & 0x3fff));
            if (packet.ipv4) {
                any(packet.ipv4->dsfield);
                any(packet.ipv4->id);
                any(packet.ipv4->ttl);
                packet.ipv4->df = random() % 2 == 0;
            }
            if (packet.ipv6) {
                any(packet.ipv6->tclass);
                any(packet.ipv6->hop_limit);
                packet.ipv6->flow_label = random() & 0xfffff;
            }
            capture.add(packet);
        }
    capture.compare();
}

}  // namespace
