// What makes a wrong ICRC right.
#include "wire/icrc_hint.hpp"

#include <gtest/gtest.h>

#include "wire/encapsulations.hpp"
#include "wire/masked_icrc.hpp"

namespace icrc_hint_test {

using wire::IcrcHint;
using wire::IpAddress;
using wire::LinkType;
using wire_test::Network;
using wire_test::Octets;
using wire_test::seal;

constexpr std::uint16_t sent_port = 0xc123;

Octets sample(Network network, std::size_t payload) {
    return wire::encode(wire_test::sample_packet(*wire::find_opcode(0x04), network, payload));
}

std::size_t udp_at(Network network) {
    return wire::Ethernet::size + (network == Network::Ipv4 ? wire::Ipv4::size : wire::Ipv6::size);
}

std::optional<IcrcHint> hint(const Octets& frame, std::span<const IpAddress> known = {}) {
    return wire::icrc_hint(wire::decode(frame, LinkType::Ethernet), known);
}

std::optional<std::uint16_t> port_of(const Octets& frame) {
    const auto found = hint(frame);
    return found && found->kind == IcrcHint::Kind::SourcePort ? std::optional(found->port)
                                                              : std::nullopt;
}

std::string text(const Octets& frame, std::span<const IpAddress> known = {}) {
    const auto found = hint(frame, known);
    return found ? found->text() : "none";
}

TEST(IcrcHint, finds_the_source_port_that_was_sent) {
    for (const Network network : {Network::Ipv4, Network::Ipv6})
        for (const std::size_t payload : {0U, 1U, 7U, 64U, 1024U, 4096U}) {
            auto frame = sample(network, payload);
            for (const unsigned port : {0U, 1U, 0x00c1U, 0xc122U, 0x2312U, 0xffffU}) {
                wire_test::put16(frame, udp_at(network), port);
                ASSERT_EQ(wire::decode(frame, LinkType::Ethernet).icrc->status,
                          wire::IcrcStatus::Bad);
                EXPECT_EQ(port_of(frame), sent_port);
            }
        }
}

TEST(IcrcHint, finds_the_port_behind_every_other_port) {
    auto frame = sample(Network::Ipv4, 16);
    for (unsigned port = 0; port < 0x10000; ++port) {
        wire_test::put16(frame, udp_at(Network::Ipv4), port);
        ASSERT_EQ(port_of(frame), port == sent_port ? std::nullopt : std::optional(sent_port));
    }
    EXPECT_EQ(text(frame), "right with UDP source port 49443");
}

TEST(IcrcHint, in_a_tunnel_is_that_of_the_inner_packet) {
    auto inner = sample(Network::Ipv4, 20);
    wire_test::put16(inner, udp_at(Network::Ipv4), 5);
    EXPECT_EQ(port_of(wire_test::encapsulations().front().wrap(inner)), sent_port);
}

TEST(IcrcHint, finds_a_known_address_that_was_rewritten) {
    for (const Network network : {Network::Ipv4, Network::Ipv6})
        for (const std::size_t payload : {0U, 23U, 1024U}) {
            const auto whole = sample(network, payload);
            const auto packet = wire::decode(whole, LinkType::Ethernet);
            const auto known = [&](const auto& ip) {
                return std::array{IpAddress(wire::Ipv4Address{{203, 0, 113, 1}}), IpAddress(ip.src),
                                  IpAddress(ip.dst)};
            };
            const auto addresses = packet.ipv4 ? known(*packet.ipv4) : known(*packet.ipv6);
            const std::size_t size = packet.ipv4 ? 4 : 16;
            auto source = whole;
            source[udp_at(network) - 2 * size] ^= std::byte{9};
            source[udp_at(network) - size - 1] ^= std::byte{1};
            EXPECT_EQ(text(source, addresses),
                      "right with source address " + wire::text(addresses[1]));
            EXPECT_EQ(text(source, std::span(addresses).first(1)), "none");
            auto destination = whole;
            destination[udp_at(network) - size] ^= std::byte{9};
            EXPECT_EQ(text(destination, addresses),
                      "right with destination address " + wire::text(addresses[2]));
        }
}

TEST(IcrcHint, finds_fields_that_were_not_masked) {
    auto packet = wire_test::sample_packet(*wire::find_opcode(0x04), Network::Ipv4, 23);
    packet.ipv4->dsfield = 0x1a;
    packet.bth->fecn = true;
    auto frame = wire::encode(packet);
    seal(frame, {1, 8, 10, 11, 26, 27, 32});
    ASSERT_EQ(wire::decode(frame, LinkType::Ethernet).icrc->status, wire::IcrcStatus::Good);
    seal(frame, {8, 10, 11, 26, 27, 32});
    EXPECT_EQ(text(frame), "right with unmasked type of service");
    seal(frame, {1, 10, 11, 26, 27, 32});
    EXPECT_EQ(text(frame), "right with unmasked TTL");
    seal(frame, {1, 8, 26, 27, 32});
    EXPECT_EQ(text(frame), "right with unmasked header checksum");
    seal(frame, {1, 8, 10, 11, 32});
    EXPECT_EQ(text(frame), "right with unmasked UDP checksum");
    seal(frame, {1, 8, 10, 11, 26, 27});
    EXPECT_EQ(text(frame), "right with unmasked FECN and BECN");
    seal(frame, {});
    EXPECT_EQ(text(frame),
              "right with unmasked type of service, TTL, header checksum, UDP checksum, FECN and "
              "BECN");
}

TEST(IcrcHint, finds_unmasked_fields_of_ipv6) {
    auto packet = wire_test::sample_packet(*wire::find_opcode(0x04), Network::Ipv6, 23);
    packet.ipv6->tclass = 0x2a;
    packet.ipv6->flow_label = 0x54321;
    packet.bth->becn = true;
    auto frame = wire::encode(packet);
    // The first byte has the version and half of the traffic class.
    seal(frame, {7, 46, 47, 52});
    EXPECT_EQ(text(frame), "right with unmasked traffic class, flow label");
    seal(frame, {});
    EXPECT_EQ(text(frame),
              "right with unmasked traffic class, flow label, hop limit, UDP checksum, FECN and "
              "BECN");
}

TEST(IcrcHint, finds_an_icrc_without_or_before_the_padding) {
    for (const std::size_t payload : {21U, 22U, 23U, 1021U}) {
        const std::size_t padding = (4 - payload % 4) % 4;
        const std::string bytes = padding == 1 ? "one byte" : std::to_string(padding) + " bytes";
        const auto right = sample(Network::Ipv4, payload);
        auto early = right;
        std::copy(right.end() - 4, right.end(), early.end() - 4 - static_cast<int>(padding));
        std::fill(early.end() - static_cast<int>(padding), early.end(), std::byte{0});
        EXPECT_EQ(text(early), "right " + bytes + " earlier, before the padding");
        auto without = right;
        seal(without, {1, 8, 10, 11, 26, 27, 32}, right.size() - 4 - padding);
        EXPECT_EQ(text(without), "right without the " + bytes + " before it");
    }
}

TEST(IcrcHint, knows_how_soft_roce_counts_a_flush) {
    // Captured with Linux 6.12.118.
    const auto captured = wire_test::from_hex(
        "525400000201 525400000202 0800 45000040845940004011 3250c0000202c0000201"
        "e91c12b7002c0000 1c00ffff00000017805087c5 00000001 00007ffc045272a0000004ce00000018"
        "c80ae1f1");
    EXPECT_EQ(text(captured), "right with its headers counted twice");
    auto packet = wire::decode(captured, LinkType::Ethernet);
    EXPECT_TRUE(wire::is_damaged(packet)) << "without its hint";
    const auto found = hint(captured);
    packet.icrc->hint = &*found;
    EXPECT_FALSE(wire::is_damaged(packet));

    for (std::size_t at = 42 + 12; at < captured.size(); ++at) {
        auto frame = captured;
        frame[at] ^= std::byte{0x10};
        EXPECT_EQ(text(frame), "none") << at;
    }
}

TEST(IcrcHint, needs_no_opcode_that_is_known) {
    auto frame = sample(Network::Ipv4, 64);
    frame[42] = std::byte{0xc1};
    seal(frame, {1, 8, 10, 11, 26, 27, 32});
    ASSERT_EQ(wire::decode(frame, LinkType::Ethernet).opcode, nullptr);
    wire_test::put16(frame, udp_at(Network::Ipv4), 5);
    EXPECT_EQ(port_of(frame), sent_port);
}

TEST(IcrcHint, a_malformed_packet_is_damaged_whatever_its_icrc_is) {
    const auto whole = sample(Network::Ipv4, 64);
    EXPECT_FALSE(wire::is_damaged(wire::decode(whole, LinkType::Ethernet)));
    auto version = whole;
    version[43] |= std::byte{1};
    seal(version, {1, 8, 10, 11, 26, 27, 32});
    const auto packet = wire::decode(version, LinkType::Ethernet);
    EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Good);
    EXPECT_TRUE(wire::is_damaged(packet));
}

TEST(IcrcHint, does_not_explain_other_damage) {
    const auto whole = sample(Network::Ipv4, 64);
    for (std::size_t at = 42 + 12; at < whole.size(); ++at) {
        auto frame = whole;
        frame[at] ^= std::byte{0x10};
        ASSERT_EQ(wire::decode(frame, LinkType::Ethernet).icrc->status, wire::IcrcStatus::Bad);
        EXPECT_EQ(text(frame), "none") << at;
    }
    auto other_address = whole;
    other_address[26] ^= std::byte{1};
    EXPECT_EQ(text(other_address), "none");
    EXPECT_EQ(text(whole), "none");
}

}  // namespace icrc_hint_test
