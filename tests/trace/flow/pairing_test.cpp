// How the tracker pairs the two directions of a connection.
#include <gtest/gtest.h>

#include "trace/flow/feed.hpp"

namespace pairing_test {

using namespace flow_test;
using flow::Pairing;
using wire::Psn;
using wire_test::Network;

constexpr Way there{.from = 1, .to = 2, .qpn = 0x11};
constexpr Way back{.from = 2, .to = 1, .qpn = 0x22};
constexpr Endpoint active{.comm_id = 7, .qpn = back.qpn, .psn = 500};
constexpr Endpoint passive{.comm_id = 8, .qpn = there.qpn, .psn = 100};

class Pairs : public testing::Test {
  protected:
    void send(const Way& way, std::uint32_t psn) {
        feed_.add(packet(way, opcode::send_only, psn, 8));
    }
    void ack(const Way& way, std::uint32_t psn) { feed_.add(answer(way, psn)); }

    static void expect_pair(const flow::Conversation& one, Pairing pairing, const Way& forward,
                            const Way& backward) {
        EXPECT_EQ(one.pairing, pairing);
        EXPECT_EQ(one.forward.dest_qpn, forward.qpn);
        EXPECT_EQ(one.forward.src_qpn, backward.qpn);
        ASSERT_TRUE(one.backward);
        EXPECT_EQ(one.backward->dest_qpn, backward.qpn);
        EXPECT_EQ(one.backward->src_qpn, forward.qpn);
        EXPECT_EQ(one.backward->src, one.forward.dst);
        EXPECT_EQ(one.backward->dst, one.forward.src);
    }

    Feed feed_;
};

TEST_F(Pairs, the_connection_managers_messages_tell_both_directions) {
    feed_.connect(there, active, passive);
    send(there, 100);
    ack(back, 100);
    send(back, 500);
    const auto all = feed_.connections();
    ASSERT_EQ(all.size(), 1U);
    expect_pair(all[0], Pairing::Cm, there, back);
    EXPECT_EQ(all[0].path_mtu, 256U);
    EXPECT_EQ(all[0].forward.requests.gaps + all[0].backward->requests.gaps, 0U);
    EXPECT_EQ(all[0].backward->responses.psns_acked, 1U);
}

TEST_F(Pairs, over_each_network) {
    for (const Network network : wire_test::all_networks) {
        Feed feed;
        const Way to{.from = 1, .to = 2, .qpn = 0x11, .network = network};
        const Way from{.from = 2, .to = 1, .qpn = 0x22, .network = network};
        feed.connect(to, active, passive);
        feed.add(packet(to, opcode::send_only, 100, 8));
        feed.add(answer(from, 100));
        const auto all = feed.connections();
        ASSERT_EQ(all.size(), 1U);
        expect_pair(all[0], Pairing::Cm, to, from);
        EXPECT_EQ(all[0].forward.requests.ack.max, Feed::step);
    }
}

TEST_F(Pairs, a_direction_without_packets_is_there_where_the_other_has_some) {
    feed_.connect(there, active, passive);
    send(back, 500);
    const auto all = feed_.connections();
    ASSERT_EQ(all.size(), 1U);
    expect_pair(all[0], Pairing::Cm, back, there);
    EXPECT_EQ(all[0].backward->packets, 0U);
}

TEST_F(Pairs, a_connection_that_was_never_used_is_no_conversation) {
    feed_.connect(there, active, passive);
    EXPECT_EQ(feed_.connections().size(), 0U);
}

TEST_F(Pairs, a_repeated_reply_changes_nothing) {
    feed_.connect(there, active, passive);
    send(there, 100);
    feed_.reply(there, active, passive);
    send(there, 101);
    ack(back, 101);
    feed_.reply(there, active, passive);
    send(there, 102);
    const auto all = feed_.connections();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].forward.packets, 3U);
    EXPECT_EQ(all[0].forward.requests.ack.count, 2U);
}

TEST_F(Pairs, a_repeated_reply_to_a_connection_that_began_anew_changes_nothing) {
    feed_.connect(there, active, passive);
    send(there, 100);
    send(there, 0x700000);
    feed_.reply(there, active, passive);
    send(there, 0x700001);
    ASSERT_EQ(feed_.connections().size(), 1U);
}

TEST_F(Pairs, a_reply_without_its_request_tells_nothing) {
    feed_.reply(there, active, passive);
    feed_.request(there, {.comm_id = 99, .qpn = back.qpn, .psn = 1});
    feed_.reply(there, active, passive);
    send(there, 100);
    ASSERT_EQ(feed_.connections().size(), 1U);
    EXPECT_EQ(feed_.connections()[0].pairing, Pairing::None);
}

class NextConnection : public Pairs {
  protected:
    void expect_two(std::uint32_t second_psn) {
        const auto all = feed_.connections();
        ASSERT_EQ(all.size(), 2U);
        expect_pair(all[0], Pairing::Cm, there, back);
        expect_pair(all[1], Pairing::Cm, there, back);
        EXPECT_EQ(all[0].forward.packets, 2U);
        EXPECT_EQ(all[1].forward.packets, 3U);
        EXPECT_EQ(all[1].forward.requests.first_psn, Psn(second_psn));
        for (const auto& one : all) {
            EXPECT_EQ(one.forward.requests.gaps, 0U);
            EXPECT_EQ(one.forward.requests.repeats, 0U);
            EXPECT_EQ(one.forward.requests.restarts, 0U);
        }
    }
    void use_twice(std::uint32_t second_psn) {
        feed_.connect(there, active, passive);
        send(there, 100);
        send(there, 101);
        feed_.connect(there, {.comm_id = 9, .qpn = back.qpn, .psn = 501},
                      {.comm_id = 10, .qpn = there.qpn, .psn = second_psn});
        for (std::uint32_t i = 0; i < 3; ++i)
            send(there, second_psn + i);
    }
};

TEST_F(NextConnection, on_the_same_queue_pairs_is_a_conversation_of_its_own) {
    use_twice(0x800);
    expect_two(0x800);
}

TEST_F(NextConnection, may_begin_with_the_same_psn) {
    use_twice(100);
    expect_two(100);
}

TEST_F(NextConnection, after_one_that_was_never_used_begins_with_its_own_psn) {
    feed_.connect(there, active, passive, 1);
    feed_.connect(there, {.comm_id = 9, .qpn = back.qpn, .psn = 5000},
                  {.comm_id = 10, .qpn = there.qpn, .psn = 1000}, 3);
    send(there, 1000);
    send(back, 5000);
    const auto all = feed_.connections();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].forward.requests.gaps, 0U);
    EXPECT_EQ(all[0].backward->requests.gaps, 0U);
    EXPECT_EQ(all[0].path_mtu, 1024U);
}

TEST_F(Pairs, datagrams_name_both_queue_pairs) {
    feed_.add(datagram(there, back.qpn, 1));
    feed_.add(datagram(back, there.qpn, 1));
    feed_.add(datagram(there, 0x99, 1));
    const auto all = feed_.conversations();
    ASSERT_EQ(all.size(), 2U);
    expect_pair(all[0], Pairing::Deth, there, back);
    EXPECT_EQ(all[1].pairing, Pairing::None);
    EXPECT_EQ(all[1].forward.src_qpn, 0x99U);
    EXPECT_FALSE(all[1].backward);
}

TEST_F(Pairs, a_run_log_that_names_its_host_tells_of_this_host_only) {
    wire::Packet sample = packet(there, opcode::send_only, 0);
    feed_.tracker().know({.host = flow::Host::of(sample.ipv4->dst),
                          .qpn = there.qpn,
                          .dest_qpn = back.qpn,
                          .path_mtu = 2048});
    send(there, 100);
    ack(back, 100);
    send({.from = 1, .to = 3, .qpn = there.qpn}, 100);
    const auto all = feed_.conversations();
    ASSERT_EQ(all.size(), 2U);
    expect_pair(all[0], Pairing::RunLog, there, back);
    EXPECT_EQ(all[0].path_mtu, 2048U);
    EXPECT_EQ(all[1].pairing, Pairing::None);
    EXPECT_FALSE(all[1].forward.src_qpn);
}

TEST_F(Pairs, a_run_log_without_its_host_tells_of_any) {
    feed_.tracker().know({.host = std::nullopt, .qpn = there.qpn, .dest_qpn = back.qpn});
    ack(back, 100);
    send(there, 101);
    const auto all = feed_.conversations();
    ASSERT_EQ(all.size(), 1U);
    expect_pair(all[0], Pairing::RunLog, back, there);
}

TEST_F(Pairs, a_run_log_of_both_ends_with_one_number_pairs_them) {
    feed_.tracker().know({.host = std::nullopt, .qpn = 17, .dest_qpn = 17});
    const Way to{.from = 1, .to = 2, .qpn = 17};
    const Way from{.from = 2, .to = 1, .qpn = 17};
    send(to, 100);
    ack(from, 100);
    const auto all = feed_.conversations();
    ASSERT_EQ(all.size(), 1U);
    expect_pair(all[0], Pairing::RunLog, to, from);
}

TEST_F(Pairs, run_logs_that_contradict_each_other_tell_nothing) {
    for (const std::uint32_t qpn : {back.qpn, back.qpn + 1})
        feed_.tracker().know({.host = std::nullopt, .qpn = there.qpn, .dest_qpn = qpn});
    send(there, 100);
    const auto all = feed_.conversations();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_FALSE(all[0].forward.src_qpn);
}

TEST_F(Pairs, responses_whose_psns_fit_one_stream_only_are_a_guess) {
    send(there, 100);
    send(there, 101);
    ack(back, 101);
    const auto all = feed_.conversations();
    ASSERT_EQ(all.size(), 1U);
    expect_pair(all[0], Pairing::AckGuess, there, back);
    EXPECT_EQ(all[0].forward.requests.ack.count, 2U);
}

TEST_F(Pairs, a_guess_gives_way_to_what_the_connection_manager_says) {
    feed_.request(there, active);
    send(there, 100);
    ack(back, 100);
    EXPECT_EQ(feed_.connections()[0].pairing, Pairing::AckGuess);
    feed_.reply(there, active, passive);
    const auto all = feed_.connections();
    ASSERT_EQ(all.size(), 1U);
    expect_pair(all[0], Pairing::Cm, there, back);
}

TEST_F(Pairs, responses_that_fit_several_streams_are_not_paired) {
    const Way other{.from = 1, .to = 2, .qpn = 0x12};
    send(there, 100);
    send(other, 100);
    ack(back, 100);
    EXPECT_EQ(feed_.conversations().size(), 3U);
    for (const auto& one : feed_.conversations())
        EXPECT_EQ(one.pairing, Pairing::None);
    // A response that matches only one stream pairs them.
    send(other, 101);
    ack(back, 101);
    EXPECT_EQ(feed_.conversations().size(), 2U);
}

TEST_F(Pairs, responses_that_no_request_fits_are_not_paired) {
    send(there, 100);
    ack(back, 4000);
    ack({.from = 3, .to = 1, .qpn = 0x22}, 100);
    EXPECT_EQ(feed_.conversations().size(), 3U);
    for (const auto& one : feed_.conversations())
        EXPECT_EQ(one.pairing, Pairing::None);
}

TEST_F(Pairs, the_only_two_left_between_two_hosts_are_a_guess) {
    send(there, 100);
    ack(back, 4000);
    send({.from = 1, .to = 3, .qpn = 0x11}, 100);
    feed_.tracker().finish();
    const auto all = feed_.conversations();
    ASSERT_EQ(all.size(), 2U);
    expect_pair(all[0], Pairing::LeftOver, there, back);
    EXPECT_EQ(all[1].pairing, Pairing::None);
}

TEST_F(Pairs, three_left_between_two_hosts_are_not_paired) {
    send(there, 100);
    send({.from = 1, .to = 2, .qpn = 0x12}, 700);
    ack(back, 4000);
    feed_.tracker().finish();
    EXPECT_EQ(feed_.conversations().size(), 3U);
}

TEST_F(Pairs, two_left_that_go_the_same_way_are_not_paired) {
    send(there, 100);
    send({.from = 1, .to = 2, .qpn = 0x12}, 700);
    feed_.tracker().finish();
    EXPECT_EQ(feed_.conversations().size(), 2U);
}

TEST_F(Pairs, equal_numbers_between_other_hosts_are_other_conversations) {
    feed_.connect(there, active, passive);
    const Way to{.from = 3, .to = 4, .qpn = there.qpn};
    const Way from{.from = 4, .to = 3, .qpn = back.qpn};
    feed_.connect(to, active, passive);
    for (int i = 0; i < 3; ++i) {
        send(there, 100U + static_cast<unsigned>(i));
        send(to, 100U + static_cast<unsigned>(i));
    }
    ack(from, 102);
    const auto all = feed_.connections();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].forward.packets, 3U);
    EXPECT_EQ(all[0].backward->packets, 0U);
    EXPECT_EQ(all[0].forward.requests.ack.count, 0U);
    EXPECT_EQ(all[1].forward.packets, 3U);
    EXPECT_EQ(all[1].forward.requests.ack.count, 3U);
}

TEST_F(Pairs, the_two_versions_of_roce_do_not_mix) {
    const Way v1{.from = 1, .to = 2, .qpn = 0x11, .network = Network::Grh};
    const Way v2{.from = 1, .to = 2, .qpn = 0x11, .network = Network::Ipv6};
    send(v1, 100);
    send(v2, 200);
    ack({.from = 2, .to = 1, .qpn = 0x22, .network = Network::Ipv6}, 100);
    const auto all = feed_.conversations();
    ASSERT_EQ(all.size(), 3U);
    for (const auto& one : all)
        EXPECT_EQ(one.pairing, Pairing::None);
    EXPECT_EQ(all[0].network, flow::Network::Grh);
    EXPECT_EQ(all[1].network, flow::Network::Ipv6);
}

TEST_F(Pairs, conversations_come_in_the_order_of_their_first_packets) {
    const Way late{.from = 5, .to = 6, .qpn = 0x55};
    feed_.connect(late, {.comm_id = 1, .qpn = 0x66, .psn = 0},
                  {.comm_id = 2, .qpn = 0x55, .psn = 0});
    send(there, 100);
    send(late, 0);
    const auto all = feed_.connections();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].forward.dest_qpn, there.qpn);
    EXPECT_LT(all[0].number, all[1].number);
}

}  // namespace pairing_test
