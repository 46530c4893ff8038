#include "trace/predict/altered_packet.hpp"

#include <gtest/gtest.h>

#include "trace/predict/packets.hpp"

namespace {

using namespace predict_test;
using predict::AlteredPacket;
using predict::ReliablePacket;
using Packets = std::vector<ReliablePacket>;

AlteredPacket dropped(const ReliablePacket& packet) {
    return {.is_missing = true,
            .passed_capture = false,
            .dest_qpn = packet.dest_qpn,
            .opcode = packet.opcode->value,
            .psn = packet.psn,
            .t_ns = std::nullopt};
}

std::vector<std::size_t> places(const std::vector<AlteredPacket>& taken, Packets& packets) {
    std::vector<std::size_t> found;
    for (const auto& one : predict::place(taken, packets))
        found.push_back(one ? one->before : 999);
    return found;
}

TEST(PredictTaken, a_lost_packet_is_missing_where_the_next_one_comes_without_it) {
    Packets packets{write(0), write(1), write(3), nak(2), write(2), write(3)};
    EXPECT_EQ(places({dropped(write(2))}, packets), std::vector<std::size_t>{2});
    const auto placed = predict::place({dropped(write(2))}, packets);
    EXPECT_EQ(placed[0]->offset, 2);
}

TEST(PredictTaken, its_repetition_is_missing_where_the_requester_went_back) {
    Packets packets{write(0), write(2), write(3), nak(1), write(2), write(3), write(1)};
    EXPECT_EQ(places({dropped(write(1)), dropped(write(1))}, packets),
              (std::vector<std::size_t>{1, 4}));
}

TEST(PredictTaken, a_last_packet_is_missing_behind_those_before_it) {
    Packets packets{write(0), write(1), ack(1), write(2)};
    EXPECT_EQ(places({dropped(write(2))}, packets), std::vector<std::size_t>{2});
    Packets silence{write(0), write(1), ack(1)};
    EXPECT_EQ(places({dropped(write(2)), dropped(write(3))}, silence),
              (std::vector<std::size_t>{2, 2}));
}

TEST(PredictTaken, what_was_captured_before_the_link_is_lost_behind_its_place) {
    Packets packets{write(0), ack(0), write(0), ack(0)};
    AlteredPacket taken = dropped(ack(0));
    taken.passed_capture = true;
    EXPECT_EQ(places({taken}, packets), std::vector<std::size_t>{2});
    EXPECT_TRUE(packets[1].is_lost);
    EXPECT_FALSE(packets[3].is_lost);
}

TEST(PredictTaken, the_time_decides_between_packets_that_are_alike) {
    Packets packets{write(0), ack(0), write(0), ack(0)};
    for (std::size_t i = 0; i < packets.size(); ++i)
        packets[i].t_ns = static_cast<std::int64_t>(i) * 1'000'000;
    AlteredPacket taken = dropped(ack(0));
    taken.passed_capture = true;
    taken.t_ns = 2'700'000;
    EXPECT_EQ(places({taken}, packets), std::vector<std::size_t>{4});
    EXPECT_TRUE(packets[3].is_lost);
}

TEST(PredictTaken, what_was_changed_or_doubled_stands_in_front_of_its_packet) {
    Packets packets{write(0), write(1), write(1), write(2)};
    AlteredPacket twice = dropped(write(1));
    twice.is_missing = false;
    EXPECT_EQ(places({twice}, packets), std::vector<std::size_t>{1});
}

TEST(PredictTaken, what_these_packets_know_nothing_of_has_no_place) {
    Packets packets{write(0)};
    AlteredPacket foreign = dropped(write(1));
    foreign.dest_qpn = 0x77;
    EXPECT_EQ(places({foreign}, packets), std::vector<std::size_t>{999});
}

}  // namespace
