// The whole line of packets with rare headers and flags.
#include <gtest/gtest.h>

#include "wire/sample_frames.hpp"
#include "wire/text/summary.hpp"

namespace summary_fields_test {

using wire_test::Network;

std::string summary(const wire::Packet& packet, util::TextStyle style = util::TextStyle()) {
    const auto frame = wire::encode(packet);
    return wire::packet_summary(wire::decode(frame, wire::LinkType::Ethernet), style, frame);
}
wire::Packet sample(std::uint8_t opcode, std::size_t payload = 0) {
    return wire_test::sample_packet(*wire::find_opcode(opcode), Network::Ipv4, payload);
}
// The columns of the name, and the fields of the BTH that all samples have.
std::string begin(std::string name) {
    name.resize(28, ' ');
    return name + " psn 0xfffffe qp 0x012345 ack-req solicited becn";
}
constexpr std::string_view reth = " va 0x7f00112233445566 rkey 0xdeadbeef len 66051";

TEST(SummaryFields, the_flags_of_the_bth_follow_its_numbers) {
    auto packet = sample(0x04, 4);
    packet.bth->fecn = true;
    packet.bth->becn = false;
    EXPECT_EQ(summary(packet),
              "RC SEND Only                 psn 0xfffffe qp 0x012345 ack-req solicited fecn "
              "payload 4");
    packet.bth->se = packet.bth->a = packet.bth->fecn = false;
    packet.bth->becn = true;
    EXPECT_EQ(summary(packet),
              "RC SEND Only                 psn 0xfffffe qp 0x012345 becn payload 4");
}

TEST(SummaryFields, each_extension_header_shows_its_fields) {
    EXPECT_EQ(
        summary(sample(0x44, 5)),
        begin("RD SEND Only") + " eecnxt 0x0a0b0c q_key 0x11223344 src-qp 0x0d0e0f payload 5");
    EXPECT_EQ(summary(sample(0xa4, 5)), begin("XRC SEND Only") + " srq 0x1a1b1c payload 5");
    EXPECT_EQ(summary(sample(0x1c)),
              begin("RC FLUSH") + " flush whole memory region plt 0x3" + std::string(reth));
    EXPECT_EQ(summary(sample(0x13)),
              begin("RC CmpSwap") +
                  " va 0x7f00112233445568 rkey 0xcafebabe compare 1230066625199609624 "
                  "swap 72623859790382856");
    EXPECT_EQ(
        summary(sample(0x14)),
        begin("RC FetchAdd") + " va 0x7f00112233445568 rkey 0xcafebabe add 72623859790382856");
    EXPECT_TRUE(summary(sample(0x12)).ends_with(" ACK msn 2763564 original 2387509390608836392"))
        << summary(sample(0x12));
}

TEST(SummaryFields, the_length_is_shown_once_if_the_packet_has_the_whole_message) {
    auto packet = sample(0x0a, 64);
    packet.reth->dmalen = 64;
    EXPECT_EQ(summary(packet),
              begin("RC RDMA WRITE Only") + " va 0x7f00112233445566 rkey 0xdeadbeef len 64");
    packet.reth->dmalen = 65;
    EXPECT_TRUE(summary(packet).ends_with(" len 65 payload 64"));
}

TEST(SummaryFields, an_address_has_as_many_digits_as_it_needs) {
    const auto shown = [](std::uint64_t va) {
        auto packet = sample(0x0c);
        packet.reth->va = va;
        const std::string text = summary(packet);
        const std::size_t at = text.find(" va ") + 4;
        return text.substr(at, text.find(' ', at) - at);
    };
    EXPECT_EQ(shown(0), "0x0");
    EXPECT_EQ(shown(0xf), "0xf");
    EXPECT_EQ(shown(0x10), "0x10");
    EXPECT_EQ(shown(0xffffffffffffffff), "0xffffffffffffffff");
}

TEST(SummaryFields, syndromes_have_the_meaning_of_their_two_upper_bits) {
    const auto shown = [](std::uint8_t syndrome) {
        auto packet = sample(0x11);
        packet.aeth = wire::Aeth{.syndrome = syndrome, .msn = 9};
        return summary(packet).substr(begin("").size());
    };
    EXPECT_EQ(shown(0x1f), " ACK msn 9");
    EXPECT_EQ(shown(0x00), " ACK credits 0 msn 9");
    EXPECT_EQ(shown(0x20), " RNR NAK 655.36 ms msn 9");
    EXPECT_EQ(shown(0x40), " reserved syndrome 0x40 msn 9");
    EXPECT_EQ(shown(0x5f), " reserved syndrome 0x5f msn 9");
    EXPECT_EQ(shown(0x60), " NAK psn sequence error msn 9");
    EXPECT_EQ(shown(0x7f), " NAK reserved msn 9");
}

TEST(SummaryFields, each_role_has_its_colour) {
    const auto colour = [](const wire::Packet& packet) {
        const std::string text = summary(packet, util::TextStyle(true));
        return text.substr(1, text.find('m'));
    };
    EXPECT_EQ(colour(sample(0x0c)), "[36m");
    EXPECT_EQ(colour(sample(0x10)), "[32m");
    EXPECT_EQ(colour(sample(0x81)), "[33m");
    auto packet = sample(0x11);
    EXPECT_EQ(colour(packet), "[32m");
    packet.aeth->syndrome = 0x61;
    EXPECT_EQ(colour(packet), "[1;31m");
    packet.aeth->syndrome = 0x21;
    EXPECT_EQ(colour(packet), "[33m");
    const auto mad = wire_test::cm_mad(wire::CmAttribute::ReadyToUse,
                                       std::vector<std::byte>(wire::Mad::data_size));
    EXPECT_EQ(colour(wire_test::cm_packet(mad, Network::Ipv4)), "[35m");
}

TEST(SummaryFields, a_datagram_of_another_class_shows_method_and_attribute) {
    auto mad = wire_test::cm_mad(wire::CmAttribute{0x0011}, {});
    mad[1] = std::byte{0x03};  // subnet administration
    mad[3] = std::byte{0x81};
    EXPECT_EQ(summary(wire_test::cm_packet(mad, Network::Ipv4)),
              "SA GetResp(NodeRecord)       psn 0x000007 qp 0x000001 q_key 0x80010000 "
              "src-qp 0x000001");
    mad[17] = std::byte{0x99};
    mad[3] = std::byte{0x7f};
    EXPECT_EQ(summary(wire_test::cm_packet(mad, Network::Ipv4)),
              "SA method 0x7f(0x0099)       psn 0x000007 qp 0x000001 q_key 0x80010000 "
              "src-qp 0x000001");
    mad[1] = std::byte{0x0a};  // a vendor's
    mad[3] = std::byte{0x81};
    EXPECT_EQ(summary(wire_test::cm_packet(mad, Network::Ipv4)),
              "MAD class 0x0a               psn 0x000007 qp 0x000001 q_key 0x80010000 "
              "src-qp 0x000001 GetResp() attribute 0x0099");
}

}  // namespace summary_fields_test
