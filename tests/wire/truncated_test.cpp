// Packets cut by the snap length, or by the switch that mirrored them: the captured bytes are
// decoded, the missing header is reported, and the packet does not count as malformed.
#include <gtest/gtest.h>

#include "wire/sample_frames.hpp"

namespace truncated_test {

using wire::LinkType;
using wire_test::Network;

std::vector<std::byte> frame_of(unsigned opcode, Network network = Network::Ipv4,
                                std::size_t payload = 64) {
    return wire::encode(wire_test::sample_packet(
        *wire::find_opcode(static_cast<std::uint8_t>(opcode)), network, payload));
}

std::string kept(const std::vector<std::byte>& frame, std::size_t size) {
    const wire_test::ExactCopy copy(util::Bytes(frame).first(size));
    const auto packet = wire::decode(copy, LinkType::Ethernet, frame.size());
    EXPECT_FALSE(packet.malformed) << packet.malformed->text();
    EXPECT_FALSE(packet.is_complete());
    return packet.truncated ? packet.truncated->text() : "not truncated";
}

TEST(Truncated, names_what_is_missing) {
    const auto write = frame_of(0x0b);  // headers end at 14, 34, 42, 54, 70, 74; payload at 138
    const std::string cut = "truncated by snap length: ";
    EXPECT_EQ(kept(write, 13), cut + "Ethernet header needs 14 bytes, 13 left");
    EXPECT_EQ(kept(write, 33), cut + "IPv4 header needs 20 bytes, 19 left");
    EXPECT_EQ(kept(write, 34), cut + "UDP header needs 8 bytes, 0 left");
    EXPECT_EQ(kept(write, 53), cut + "BTH needs 12 bytes, 11 left");
    EXPECT_EQ(kept(write, 69), cut + "RETH needs 16 bytes, 15 left");
    EXPECT_EQ(kept(write, 70), cut + "ImmDt needs 4 bytes, 0 left");
    EXPECT_EQ(kept(write, 74), cut + "payload needs 64 bytes, 0 left");
    EXPECT_EQ(kept(write, 137), cut + "payload needs 64 bytes, 63 left");
    EXPECT_EQ(kept(write, 138), cut + "ICRC needs 4 bytes, 0 left");
    EXPECT_EQ(kept(frame_of(0x0a, Network::Ipv6), 50), cut + "IPv6 header needs 40 bytes, 36 left");
    EXPECT_EQ(kept(frame_of(0x0a, Network::Grh), 50), cut + "GRH needs 40 bytes, 36 left");
    EXPECT_EQ(kept(frame_of(0x13), 60), cut + "AtomicETH needs 28 bytes, 6 left");
    EXPECT_EQ(kept(frame_of(0x12), 60), cut + "AtomicAckETH needs 8 bytes, 2 left");
    EXPECT_EQ(kept(frame_of(0x11), 56), cut + "AETH needs 4 bytes, 2 left");
    EXPECT_EQ(kept(frame_of(0x17), 56), cut + "IETH needs 4 bytes, 2 left");
    EXPECT_EQ(kept(frame_of(0x64), 56), cut + "DETH needs 8 bytes, 2 left");
    EXPECT_EQ(kept(frame_of(0x40), 56), cut + "RDETH needs 4 bytes, 2 left");
    EXPECT_EQ(kept(frame_of(0xa4), 56), cut + "XRCETH needs 4 bytes, 2 left");
    EXPECT_EQ(kept(frame_of(0x1c), 56), cut + "FETH needs 4 bytes, 2 left");
    EXPECT_EQ(kept(frame_of(0x81), 56), cut + "CNP reserved field needs 16 bytes, 2 left");
    EXPECT_EQ(kept(frame_of(0x04, Network::Ipv4, 5), 59), cut + "padding needs 3 bytes, 0 left");
}

TEST(Truncated, knows_the_payloads_length_and_shows_what_was_kept) {
    const auto frame = frame_of(0x04, Network::Ipv4, 61);  // three bytes of padding
    const auto packet =
        wire::decode(util::Bytes(frame).first(54 + 10), LinkType::Ethernet, frame.size());
    EXPECT_EQ(packet.payload_length, 61U);
    EXPECT_EQ(packet.payload.size(), 10U);
    EXPECT_EQ(packet.payload.data(), frame.data() + 54);
    EXPECT_EQ(packet.icrc->reason, "truncated by snap length");
}

TEST(Truncated, headers_in_front_of_the_cut_are_there) {
    const auto frame = frame_of(0x0a);
    const auto packet =
        wire::decode(util::Bytes(frame).first(60), LinkType::Ethernet, frame.size());
    EXPECT_TRUE(packet.ethernet && packet.ipv4 && packet.udp && packet.bth);
    EXPECT_EQ(packet.opcode->value, 0x0a);
    EXPECT_FALSE(packet.reth);
    EXPECT_FALSE(packet.icrc);
    EXPECT_TRUE(packet.payload.empty());
}

// From the BTH on, the lengths of the headers say how long the payload was.
TEST(Truncated, a_cut_header_hides_the_payload_and_not_its_length) {
    for (const std::uint8_t code :
         std::initializer_list<std::uint8_t>{0x0a, 0x06, 0x0b, 0x17, 0x64, 0x11, 0x0d})
        for (const Network network : {Network::Ipv4, Network::Ipv6, Network::Grh}) {
            const std::size_t payload = code == 0x11 ? 0 : 61;
            const auto frame = frame_of(code, network, payload);
            for (std::size_t size = frame.size() - 1; size >= 54; --size) {
                const auto packet =
                    wire::decode(util::Bytes(frame).first(size), LinkType::Ethernet, frame.size());
                EXPECT_EQ(packet.payload_length, packet.bth ? payload : 0) << size;
            }
        }
}

// A switch that truncates mirrored packets does not change the IP length.
TEST(Truncated, a_sliced_frame_was_cut_before_the_capture) {
    for (const Network network : {Network::Ipv4, Network::Ipv6, Network::Grh}) {
        const auto frame = frame_of(0x0a, network, 61);
        for (std::size_t size = frame.size() - 1; size >= 14; --size) {
            const wire_test::ExactCopy copy(util::Bytes(frame).first(size));
            const auto packet = wire::decode(copy, LinkType::Ethernet, size);
            const auto whole = wire::decode(copy, LinkType::Ethernet, frame.size());
            EXPECT_EQ(packet.reth, whole.reth) << size;
            EXPECT_EQ(packet.payload_length, whole.payload_length) << size;
            EXPECT_EQ(packet.payload.size(), whole.payload.size()) << size;
            EXPECT_EQ(packet.truncated.has_value(), packet.ipv4 || packet.ipv6 || packet.grh)
                << size;
            EXPECT_NE(packet.truncated.has_value(), packet.malformed.has_value()) << size;
            if (packet.truncated) {
                EXPECT_EQ(packet.truncated->what, whole.truncated->what) << size;
                EXPECT_TRUE(packet.truncated->text().starts_with("truncated before the capture: "))
                    << packet.truncated->text();
            }
            if (packet.icrc) {
                EXPECT_EQ(packet.icrc->reason, "truncated before the capture") << size;
            }
        }
    }
}

// Lengths in the headers are compared with each other, not with the captured size.
TEST(Truncated, a_packet_may_be_malformed_as_well) {
    auto frame = frame_of(0x04);
    frame[14 + 3] = std::byte{200};  // IPv4 length; UDP has 102 bytes
    const auto packet =
        wire::decode(util::Bytes(frame).first(60), LinkType::Ethernet, frame.size());
    EXPECT_EQ(packet.malformed->text(), "UDP length is 88, but IP leaves 180 bytes");
    EXPECT_TRUE(packet.bth);
    auto renamed = frame_of(0x04, Network::Ipv4, 8);
    renamed[42] = std::byte{0x0a};
    const auto cut =
        wire::decode(util::Bytes(renamed).first(56), LinkType::Ethernet, renamed.size());
    EXPECT_EQ(cut.malformed->text(), "RETH needs 16 bytes, 12 left");
    EXPECT_FALSE(cut.truncated) << "more of it would not have helped";
}

TEST(Truncated, an_original_length_below_the_captured_one_is_not_believed) {
    const auto frame = frame_of(0x0a);
    EXPECT_TRUE(wire::decode(frame, LinkType::Ethernet, 10).is_complete());
}

}  // namespace truncated_test
