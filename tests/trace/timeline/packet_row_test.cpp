#include "trace/timeline/packet_row.hpp"

#include <gtest/gtest.h>

#include "capture/frame.hpp"
#include "wire/infiniband_frames.hpp"

namespace packet_row_test {

timeline::PacketRow row_of(const wire::Packet& packet) {
    const auto frame = wire::encode(packet);
    return timeline::row_of(wire::decode(frame, wire::LinkType::Ethernet), frame, 1, {});
}

TEST(PacketRow, has_the_addresses_of_every_network) {
    for (const auto network : wire_test::all_networks) {
        const auto row = row_of(wire_test::sample_packet(*wire::find_opcode(0x0a), network, 64));
        EXPECT_TRUE(row.is_roce);
        EXPECT_FALSE(row.source.empty());
        EXPECT_EQ(row.key->source, row.source);
        EXPECT_EQ(row.key->destination, row.destination);
    }
}

// GIDs in device events have the same form.
TEST(PacketRow, has_rocev1_s_gids_as_the_logs_have_them) {
    auto packet = wire_test::sample_packet(*wire::find_opcode(0x0a), wire_test::Network::Grh, 64);
    packet.grh->sgid = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1}};
    packet.grh->dgid = {{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
    const auto row = row_of(packet);
    EXPECT_EQ(row.source, "192.0.2.1");
    EXPECT_EQ(row.destination, "fe80::2");
}

TEST(PacketRow, has_the_lids_of_infiniband) {
    const auto frame = wire_test::native_sample(*wire::find_opcode(0x0a), false, 64);
    const auto row =
        timeline::row_of(wire::decode(frame, wire::LinkType::Infiniband), frame, 1, {});
    EXPECT_EQ(row.source, "LID 291");
    EXPECT_EQ(row.destination, "LID 69");
}

}  // namespace packet_row_test
