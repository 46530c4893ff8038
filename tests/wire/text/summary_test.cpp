#include "wire/text/summary.hpp"

#include <gtest/gtest.h>

#include "wire/sample_frames.hpp"

namespace summary_test {

using wire_test::Network;

// Encodes the packet and decodes it again, as if it came from a capture.
std::string summary(const wire::Packet& packet, util::TextStyle style = util::TextStyle()) {
    const auto frame = wire::encode(packet);
    return wire::packet_summary(wire::decode(frame, wire::LinkType::Ethernet), style, frame);
}

wire::Packet packet_of(std::uint8_t opcode, std::size_t payload = 0) {
    auto packet = wire_test::sample_packet(*wire::find_opcode(opcode), Network::Ipv4, payload);
    packet.bth->se = false;
    packet.bth->a = false;
    packet.bth->becn = false;
    return packet;
}

wire::Packet answer(std::uint8_t syndrome) {
    auto packet = packet_of(0x11);
    packet.aeth = wire::Aeth{.syndrome = syndrome, .msn = 9};
    return packet;
}

TEST(Summary, has_what_a_reader_asks_of_each_kind_of_packet) {
    const std::string psn_qp = " psn 0xfffffe qp 0x012345";
    EXPECT_EQ(summary(packet_of(0x0a, 64)),
              "RC RDMA WRITE Only          " + psn_qp +
                  " va 0x7f00112233445566 rkey 0xdeadbeef len 66051 payload 64");
    EXPECT_EQ(summary(packet_of(0x0c)), "RC RDMA READ Request        " + psn_qp +
                                            " va 0x7f00112233445566 rkey 0xdeadbeef len 66051");
    EXPECT_EQ(summary(packet_of(0x04, 5)), "RC SEND Only                " + psn_qp + " payload 5");
    EXPECT_NE(summary(packet_of(0x05)).find("imm 0x31323334"), std::string::npos)
        << summary(packet_of(0x05));
    EXPECT_NE(summary(packet_of(0x17)).find("0x41424344"), std::string::npos)
        << summary(packet_of(0x17));
    EXPECT_NE(summary(packet_of(0x64)).find("q_key 0x11223344 src-qp 0x0d0e0f"), std::string::npos)
        << summary(packet_of(0x64));
}

TEST(Summary, opcodes_without_a_name_have_that_of_their_kind) {
    const auto name = [](std::uint8_t opcode) {
        auto frame = wire::encode(packet_of(0x04));
        frame[wire::Ethernet::size + wire::Ipv4::size + wire::Udp::size] = std::byte{opcode};
        const auto text = wire::packet_summary(wire::decode(frame, wire::LinkType::Ethernet));
        return text.substr(0, text.find("  "));
    };
    EXPECT_EQ(name(0xc1), "manufacturer's opcode 0xc1");
    EXPECT_EQ(name(0x18), "reserved opcode 0x18");
}

TEST(Summary, tells_acknowledgements_apart) {
    EXPECT_NE(summary(answer(0x1f)).find(" ACK msn 9"), std::string::npos);
    EXPECT_NE(summary(answer(0x05)).find(" ACK credits 6 msn 9"), std::string::npos)
        << summary(answer(0x05));
    EXPECT_NE(summary(answer(0x2c)).find(" RNR NAK 0.64 ms"), std::string::npos);
    EXPECT_NE(summary(answer(0x62)).find(" NAK remote access error"), std::string::npos)
        << summary(answer(0x62));
}

TEST(Summary, what_is_wrong_comes_with_the_reason) {
    auto frame = wire::encode(packet_of(0x04, 8));
    frame.back() ^= std::byte{1};
    const auto text = [&] {
        return wire::packet_summary(wire::decode(frame, wire::LinkType::Ethernet));
    };
    EXPECT_NE(text().find(" is wrong: 0x"), std::string::npos) << text();
    frame[42] = std::byte{0x1f};
    EXPECT_NE(text().find("BTH opcode 0x1f is reserved"), std::string::npos) << text();
    frame.resize(40);
    EXPECT_EQ(text(), "truncated before the capture: UDP header needs 8 bytes, 6 left");
}

TEST(Summary, what_the_snap_length_cut_off_is_said_where_it_is_missed) {
    const auto cut = [](const std::vector<std::byte>& frame, std::size_t kept) {
        return wire::packet_summary(
            wire::decode(util::Bytes(frame).first(kept), wire::LinkType::Ethernet, frame.size()));
    };
    const auto write = wire::encode(packet_of(0x0a, 64));
    EXPECT_EQ(cut(write, 128), summary(packet_of(0x0a, 64))) << "only payload is missing";
    EXPECT_TRUE(cut(write, 60).ends_with(" truncated by snap length: RETH needs 16 bytes, 6 left"))
        << cut(write, 60);
    const auto mad = wire_test::cm_mad(wire::CmAttribute::ReadyToUse,
                                       std::vector<std::byte>(wire::Mad::data_size));
    const auto ready = wire::encode(wire_test::cm_packet(mad, Network::Ipv4));
    EXPECT_TRUE(
        cut(ready, 128).ends_with(" truncated by snap length: payload needs 256 bytes, 66 left"))
        << cut(ready, 128);
    EXPECT_EQ(cut(ready, ready.size() - 4), cut(ready, ready.size())) << "the ICRC says nothing";
}

TEST(Summary, colours_are_escapes_around_the_same_text) {
    const std::string plain = summary(packet_of(0x0a));
    std::string coloured = summary(packet_of(0x0a), util::TextStyle(true));
    EXPECT_NE(coloured, plain);
    for (auto at = coloured.find('\033'); at != std::string::npos; at = coloured.find('\033'))
        coloured.erase(at, coloured.find('m', at) - at + 1);
    EXPECT_EQ(coloured, plain);
}

}  // namespace summary_test
