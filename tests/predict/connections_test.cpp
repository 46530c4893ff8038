#include "predict/connections.hpp"

#include <gtest/gtest.h>

#include "predict/made_packets.hpp"
#include "wire/encode.hpp"
#include "wire/sample_frames.hpp"

namespace {

using namespace predict_test;
using predict::connect;
using predict::Packet;
using Packets = std::vector<Packet>;

Packets unconnected(Packets packets) {
    for (Packet& one : packets) {
        one.connection = Packet::no_connection;
        one.offset = 0;
        one.psns = 1;
    }
    return packets;
}

TEST(PredictConnections, count_psns_from_the_lowest_request_also_over_zero) {
    // The first one was lost, and came again.
    Packets packets =
        unconnected({write(1), write(2), nak(0), write(0), write(1), write(2), ack(2)});
    const auto found = connect(packets);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].first_psn, wire::Psn(first_psn));
    EXPECT_EQ(found[0].requester, "c");
    std::vector<std::int32_t> offsets;
    for (const Packet& one : packets)
        offsets.push_back(one.offset);
    // The NAK is for a PSN that no request had had by then.
    EXPECT_EQ(offsets, (std::vector<std::int32_t>{1, 2, 0, 0, 1, 2, 2}));
    EXPECT_EQ(packets[2].connection, 0U);
}

TEST(PredictConnections, learn_the_path_mtu_and_so_what_a_read_takes) {
    Packets packets = unconnected({read(0, 3), read(3, 3), response(0)});
    EXPECT_EQ(connect(packets)[0].path_mtu, 1024U);
    EXPECT_EQ(packets[0].psns, 3U);
    EXPECT_EQ(packets[1].offset, 3);
}

TEST(PredictConnections, are_two_where_both_ends_post) {
    Packets packets = unconnected({write(0), ack(0), write(0), ack(0)});
    packets[2].source = packets[3].destination = "s";
    packets[2].destination = packets[3].source = "c";
    packets[2].dest_qpn = 0x12;
    packets[3].dest_qpn = 0x11;
    EXPECT_EQ(connect(packets).size(), 2U);
    EXPECT_EQ(packets[1].connection, 0U);
    EXPECT_EQ(packets[3].connection, 1U);
}

// On one pair of hosts, each with the same first PSN.
TEST(PredictConnections, have_answers_of_their_own) {
    Packets packets = unconnected({write(0), ack(0), write(0), ack(0), write(1), ack(1)});
    packets[2].dest_qpn = 0x21;
    packets[3].dest_qpn = 0x22;
    EXPECT_EQ(connect(packets).size(), 2U);
    std::vector<std::size_t> connections;
    for (const Packet& one : packets)
        connections.push_back(one.connection);
    EXPECT_EQ(connections, (std::vector<std::size_t>{0, 0, 1, 1, 0, 0}));
}

TEST(PredictConnections, do_not_take_answers_to_nothing) {
    Packets packets = unconnected({ack(7), write(0)});
    connect(packets);
    EXPECT_EQ(packets[0].connection, Packet::no_connection);
}

TEST(PredictPacket, is_one_of_a_reliable_connection) {
    const auto made = [](std::uint8_t opcode) {
        const auto frame = wire::encode(
            wire_test::sample_packet(*wire::find_opcode(opcode), wire_test::Network::Ipv4, 64));
        return predict::packet_of(wire::decode(frame, wire::LinkType::Ethernet), "a", "b", 7);
    };
    EXPECT_EQ(made(send_only)->kind, predict::Kind::Send);
    EXPECT_EQ(made(write_middle)->kind, predict::Kind::Write);
    EXPECT_TRUE(made(write_middle)->fills_path_mtu);
    EXPECT_EQ(made(fetch_add)->kind, predict::Kind::Atomic);
    EXPECT_TRUE(made(atomic_answer)->is_atomic_answer());
    EXPECT_EQ(made(0x16)->kind, predict::Kind::Send);  // with Invalidate
    EXPECT_FALSE(made(wire::ud_send_only_opcode));
    EXPECT_FALSE(made(0x2a));  // UC
}

TEST(PredictPacket, kinds_have_words) {
    for (const char* word : {"send", "write", "read", "atomic", "response", "ack", "nak", "rnr"})
        EXPECT_EQ(name(*predict::kind_of(word)), word);
    EXPECT_FALSE(predict::kind_of("other"));
}

}  // namespace
