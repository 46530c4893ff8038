// Parses every extension header from known bytes and writes it back (IBTA volume 1, 9.3; annexes
// A14 and A19).
#include <array>

#include <gtest/gtest.h>

#include "wire/each_header.hpp"
#include "wire/sample_frames.hpp"

namespace extension_headers_test {

// The output buffer initially contains other bytes, to test that reserved fields are written, too.
template <typename Header>
void expect_both_ways(const Header& header, std::string_view hex) {
    const auto bytes = wire_test::from_hex(hex);
    ASSERT_EQ(bytes.size(), Header::size);
    const auto fixed = util::Bytes(bytes).first<Header::size>();
    EXPECT_TRUE(wire::parse<Header>(fixed) == header) << hex;
    std::array<std::byte, Header::size> out{};
    out.fill(std::byte{0xee});
    wire::write(header, out);
    EXPECT_TRUE(std::ranges::equal(out, bytes)) << hex;
}

TEST(ExtensionHeaders, reth) {
    expect_both_ways(wire::Reth{.va = 0xf102030405060708, .rkey = 0x81020304, .dmalen = 0x80000000},
                     "f102030405060708 81020304 80000000");
}

TEST(ExtensionHeaders, atomic_eth_and_its_answer) {
    expect_both_ways(wire::AtomicEth{.va = 0xf102030405060708,
                                     .rkey = 0x81020304,
                                     .swapdt = 0x9112131415161718,
                                     .cmpdt = 0xa122232425262728},
                     "f102030405060708 81020304 9112131415161718 a122232425262728");
    expect_both_ways(wire::AtomicAckEth{.origremdt = 0xb132333435363738}, "b132333435363738");
}

TEST(ExtensionHeaders, datagram_headers) {
    expect_both_ways(wire::Deth{.q_key = 0x80010000, .src_qpn = 0xfedcba}, "80010000 00 fedcba");
    expect_both_ways(wire::Rdeth{.eecnxt = 0xfedcba}, "00 fedcba");
    expect_both_ways(wire::Xrceth{.xrcsrq = 0xfedcba}, "00 fedcba");
}

TEST(ExtensionHeaders, immediate_data_and_the_key_to_invalidate) {
    expect_both_ways(wire::ImmDt{.value = 0x81020304}, "81020304");
    expect_both_ways(wire::Ieth{.rkey = 0xdeadbeef}, "deadbeef");
}

TEST(ExtensionHeaders, feth) {
    expect_both_ways(wire::Feth{.plt = wire::Feth::persistence, .sel = 1}, "00000012");
    expect_both_ways(wire::Feth{.plt = 0xf, .sel = 3}, "0000003f");
    EXPECT_EQ((wire::Feth{.plt = 0, .sel = 0}.sel_name()), "memory range");
    EXPECT_EQ((wire::Feth{.plt = 0, .sel = 1}.sel_name()), "whole memory region");
    EXPECT_EQ((wire::Feth{.plt = 0, .sel = 2}.sel_name()), "reserved");
}

TEST(ExtensionHeaders, reserved_bytes_in_front_of_a_number_do_not_count) {
    const auto bytes = wire_test::from_hex("ff000001");
    EXPECT_EQ(wire::parse<wire::Rdeth>(std::span(bytes).first<4>()).eecnxt, 1U);
    EXPECT_EQ(wire::parse<wire::Xrceth>(std::span(bytes).first<4>()).xrcsrq, 1U);
}

// Exactly the headers of the opcode are present, over every network.
TEST(ExtensionHeaders, follow_from_the_opcode) {
    for (const wire::OpcodeInfo& opcode : wire_test::all_opcodes())
        for (const auto network : wire_test::all_networks) {
            const auto sent = wire_test::sample_packet(opcode, network, 6);
            const auto frame = wire::encode(sent);
            const auto packet = wire::decode(frame, wire::LinkType::Ethernet);
            ASSERT_TRUE(packet.is_complete()) << opcode.name;
            wire::for_each_extension_header(
                packet, [&](wire::HeaderMask bit, std::string_view name, const auto& header) {
                    EXPECT_EQ(header.has_value(), opcode.has(bit)) << opcode.name << ' ' << name;
                    return true;
                });
            EXPECT_EQ(packet.rdeth, sent.rdeth) << opcode.name;
            EXPECT_EQ(packet.dceth, sent.dceth) << opcode.name;
            EXPECT_EQ(packet.deth, sent.deth) << opcode.name;
            EXPECT_EQ(packet.xrceth, sent.xrceth) << opcode.name;
            EXPECT_EQ(packet.feth, sent.feth) << opcode.name;
            EXPECT_EQ(packet.reth, sent.reth) << opcode.name;
            EXPECT_EQ(packet.atomic_eth, sent.atomic_eth) << opcode.name;
            EXPECT_EQ(packet.aeth, sent.aeth) << opcode.name;
            EXPECT_EQ(packet.atomic_ack_eth, sent.atomic_ack_eth) << opcode.name;
            EXPECT_EQ(packet.immdt, sent.immdt) << opcode.name;
            EXPECT_EQ(packet.ieth, sent.ieth) << opcode.name;
            EXPECT_TRUE(std::ranges::equal(packet.payload, sent.payload)) << opcode.name;
        }
}

}  // namespace extension_headers_test
