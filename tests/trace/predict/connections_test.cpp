#include "trace/predict/connections.hpp"

#include <gtest/gtest.h>

#include "trace/flow/feed.hpp"
#include "trace/predict/packets.hpp"
#include "wire/encode.hpp"
#include "wire/sample_frames.hpp"

namespace {

using namespace predict_test;
using flow_test::answer;
using flow_test::Way;
using predict::ReliablePacket;
namespace opcode = flow_test::opcode;

constexpr Way there{.from = 1, .to = 2, .qpn = 0x11};
constexpr Way back{.from = 2, .to = 1, .qpn = 0x22};

class PredictConnections : public testing::Test {
  protected:
    void add(const wire::Packet& packet) {
        const auto frame = wire::encode(packet);
        const auto decoded = wire::decode(frame, wire::LinkType::Ethernet);
        const auto key = *flow::StreamKey::of(decoded);
        packets_.push_back(*predict::packet_of(1, 0, decoded, flow::text(key.src, key.network),
                                               flow::text(key.dst, key.network)));
        packets_.back().stream = tracker_.add({}, decoded, frame.size());
    }
    // Adds a SEND. The first PSN is close to the wrap.
    void send(const Way& way, std::uint32_t offset) {
        add(flow_test::packet(way, opcode::send_only, first_psn + offset, 8));
    }
    void ack(const Way& way, std::uint32_t offset) { add(answer(way, first_psn + offset)); }
    void read(std::uint32_t offset, std::uint32_t dmalen) {
        add(flow_test::read(there, first_psn + offset, dmalen));
    }

    std::vector<predict::Connection> connect() {
        tracker_.finish();
        return predict::connect(packets_, tracker_);
    }
    template <typename Member>
    auto all(Member member) const {
        std::vector<std::decay_t<decltype(packets_[0].*member)>> values;
        for (const ReliablePacket& packet : packets_)
            values.push_back(packet.*member);
        return values;
    }

    std::vector<ReliablePacket> packets_;
    flow::Tracker tracker_;
};

TEST_F(PredictConnections, count_psns_from_the_lowest_request_also_over_zero) {
    // The first packet was lost, and later retransmitted.
    send(there, 1);
    send(there, 2);
    add(answer(back, first_psn, flow_test::syndrome::psn_error));
    for (std::uint32_t i = 0; i < 3; ++i)
        send(there, i);
    ack(back, 2);
    const auto found = connect();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].first_psn, wire::Psn(first_psn));
    EXPECT_EQ(found[0].requester, packets_[0].source);
    EXPECT_EQ(found[0].responder, packets_[0].destination);
    EXPECT_EQ(all(&ReliablePacket::offset), (std::vector<std::int32_t>{1, 2, 0, 0, 1, 2, 2}));
    EXPECT_EQ(packets_[2].connection, 0U);
}

TEST_F(PredictConnections, have_the_path_mtu_and_so_what_a_read_takes) {
    read(0, 3 * 1024);
    read(3, 3 * 1024);
    add(flow_test::packet(back, opcode::read_first, first_psn, 1024));
    EXPECT_EQ(connect()[0].path_mtu, 1024U);
    EXPECT_EQ(packets_[0].psns, 3U);
    EXPECT_EQ(packets_[1].offset, 3);
}

TEST_F(PredictConnections, know_the_path_mtu_from_a_run_log) {
    tracker_.know({.host = std::nullopt, .qpn = back.qpn, .dest_qpn = there.qpn, .path_mtu = 512});
    read(0, 1024);
    EXPECT_EQ(connect()[0].path_mtu, 512U);
    EXPECT_EQ(packets_[0].psns, 2U);
}

TEST_F(PredictConnections, are_two_where_both_ends_post) {
    send(there, 0);
    ack(back, 0);
    send(back, 700);
    ack(there, 700);
    EXPECT_EQ(connect().size(), 2U);
    EXPECT_EQ(all(&ReliablePacket::connection), (std::vector<std::size_t>{0, 0, 1, 1}));
    EXPECT_EQ(packets_[3].offset, 0);
}

// Two connections between the same hosts, with the same first PSN.
TEST_F(PredictConnections, have_responses_of_their_own) {
    constexpr Way other_there{.from = 1, .to = 2, .qpn = 0x33};
    constexpr Way other_back{.from = 2, .to = 1, .qpn = 0x44};
    send(there, 0);
    ack(back, 0);
    send(other_there, 0);
    ack(other_back, 0);
    send(there, 1);
    ack(back, 1);
    EXPECT_EQ(connect().size(), 2U);
    EXPECT_EQ(all(&ReliablePacket::connection), (std::vector<std::size_t>{0, 0, 1, 1, 0, 0}));
}

TEST_F(PredictConnections, do_not_take_responses_in_front_of_all_requests) {
    ack(back, 7);
    send(there, 0);
    connect();
    EXPECT_EQ(packets_[0].connection, ReliablePacket::no_connection);
}

TEST(PredictPacket, is_one_of_a_reliable_connection) {
    const auto made = [](std::uint8_t opcode) {
        const auto frame = wire::encode(
            wire_test::sample_packet(*wire::find_opcode(opcode), wire_test::Network::Ipv4, 64));
        return predict::packet_of(1, 7, wire::decode(frame, wire::LinkType::Ethernet), "a", "b");
    };
    EXPECT_EQ(made(send_only)->kind(), predict::Kind::Send);
    EXPECT_EQ(made(write_middle)->kind(), predict::Kind::Write);
    EXPECT_EQ(made(fetch_add)->kind(), predict::Kind::Atomic);
    EXPECT_EQ(made(0x16)->kind(), predict::Kind::Send);  // with Invalidate
    EXPECT_FALSE(made(wire::ud_send_only_opcode));
    EXPECT_FALSE(made(0x2a));  // UC
}

TEST(PredictPacket, kinds_have_words) {
    for (const char* word : {"send", "write", "read", "atomic", "response", "ack", "nak", "rnr"})
        EXPECT_EQ(name(*predict::kind_of(word)), word);
    EXPECT_FALSE(predict::kind_of("other"));
}

}  // namespace
