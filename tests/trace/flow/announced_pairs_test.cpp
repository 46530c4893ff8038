// What the connection manager and run logs tell the tracker of a connection.
#include <gtest/gtest.h>

#include "trace/flow/feed.hpp"

namespace announced_pairs_test {

using namespace flow_test;
using flow::Pairing;
using wire::Psn;

constexpr Way there{.from = 1, .to = 2, .qpn = 0x11};
constexpr Way back{.from = 2, .to = 1, .qpn = 0x22};
constexpr Endpoint active{.comm_id = 7, .qpn = back.qpn, .psn = 500};
constexpr Endpoint passive{.comm_id = 8, .qpn = there.qpn, .psn = 100};

TEST(PairedTransport, is_the_one_that_the_connection_manager_names) {
    struct Case {
        Service service;
        std::uint8_t code{};
        Pairing pairing{};
    };
    constexpr Service rc{0, 0}, uc{1, 0}, rd{2, 0}, xrc{3, 1}, unknown{3, 0}, reserved{3, 2};
    for (const Case& one : {Case{rc, opcode::send_only, Pairing::Cm},
                            {uc, opcode::uc_send_only, Pairing::Cm},
                            {uc, opcode::send_only, Pairing::None},
                            {xrc, opcode::xrc_send_only, Pairing::Cm},
                            {unknown, opcode::xrc_send_only, Pairing::None},
                            {reserved, opcode::xrc_send_only, Pairing::None},
                            {rd, opcode::send_only, Pairing::None}}) {
        SCOPED_TRACE(testing::Message() << one.service.type << ' ' << one.service.extended);
        Feed feed;
        feed.request(there, active, 1, one.service);
        feed.reply(there, active, passive);
        auto made = packet(there, one.code, 100, 8);
        if (one.code == opcode::xrc_send_only)
            made.xrceth = wire::Xrceth{};
        feed.add(made);
        const auto all = feed.connections();
        ASSERT_EQ(all.size(), 1U);
        EXPECT_EQ(all[0].pairing, one.pairing);
    }
}

// {code in the ConnectRequest, bytes}: one message of one packet does not show it.
TEST(AnnouncedPathMtu, is_the_one_that_the_connection_manager_names) {
    for (const auto& [code, bytes] : {std::pair(1U, 256U), {3U, 1024U}, {5U, 4096U}, {0U, 0U}}) {
        Feed feed;
        feed.connect(there, active, passive, code);
        feed.add(packet(there, opcode::send_only, 100, 8));
        ASSERT_EQ(feed.connections().size(), 1U);
        EXPECT_EQ(feed.connections().front().path_mtu, bytes);
    }
}

// The first request, not the announced one, begins the sequence.
TEST(AnnouncedPsn, behind_the_first_request_makes_it_no_copy) {
    Feed feed;
    feed.connect(there, active, passive);
    for (const std::uint32_t psn : {84U, 84U, 85U})
        feed.add(packet(there, opcode::send_only, psn, 8));
    const auto requests = feed.connections().front().forward.requests;
    EXPECT_EQ(requests.psns, 2U);
    EXPECT_EQ(requests.repeats, 1U);
    EXPECT_EQ(requests.first_psn, Psn(84));
    EXPECT_EQ(requests.last_psn, Psn(85));
    EXPECT_EQ(requests.gaps, 0U);
    EXPECT_EQ(requests.restarts, 0U);
}

TEST(NextConnectionAfterOneWay, begins_anew_in_both_directions) {
    for (const Way& way : {there, back}) {
        SCOPED_TRACE(way.qpn);
        Feed feed;
        feed.add(packet(way, opcode::send_only, 7, 8));
        feed.connect(there, active, passive);
        feed.add(packet(there, opcode::send_only, 100, 8));
        const auto all = feed.connections();
        ASSERT_EQ(all.size(), 2U);
        EXPECT_EQ(all[0].pairing, Pairing::None);
        EXPECT_EQ(all[1].pairing, Pairing::Cm);
        EXPECT_EQ(all[1].forward.requests.gaps + all[1].forward.requests.restarts, 0U);
    }
}

// The log of the end that sends, twice: {path MTU, first PSN, retry_cnt}.
TEST(PairedByRunLog, a_log_of_two_connections_tells_what_they_share) {
    struct Told {
        flow::PathMtu path_mtu;
        std::uint32_t sq_psn;
        std::uint32_t retry_count;
    };
    struct Case {
        Told second{};
        flow::PathMtu path_mtu{};
        std::optional<Psn> first_psn;
    };
    for (const Case& one : {Case{{0, 100, 5}, 1024, Psn(100)}, {{2048, 200, 6}, 2048, {}}}) {
        Feed feed;
        for (const Told& told : {Told{1024, 100, 3}, one.second})
            feed.tracker().know({.host = std::nullopt,
                                 .qpn = back.qpn,
                                 .dest_qpn = there.qpn,
                                 .path_mtu = told.path_mtu,
                                 .sq_psn = Psn(told.sq_psn),
                                 .retry = {.retry_count = told.retry_count}});
        const auto made = packet(there, opcode::send_only, 300, 8);
        feed.add(made);
        const auto frame = wire::encode(made);
        const auto facts = feed.tracker().facts_of(
            *flow::StreamKey::of(wire::decode(frame, wire::LinkType::Ethernet)));
        ASSERT_TRUE(facts);
        EXPECT_EQ(facts->path_mtu, one.path_mtu);
        EXPECT_EQ(facts->first_psn, one.first_psn);
        EXPECT_EQ(facts->retry.retry_count, one.second.retry_count);
    }
}

TEST(PairedByRunLog, the_receivers_log_names_the_sender_where_another_log_contradicts_it) {
    Feed feed;
    feed.tracker().know({.host = std::nullopt, .qpn = back.qpn, .dest_qpn = there.qpn});
    feed.tracker().know({.host = std::nullopt, .qpn = there.qpn, .dest_qpn = 0x99});
    feed.add(packet(there, opcode::send_only, 100, 8));
    EXPECT_EQ(feed.conversations().at(0).forward.src_qpn, 0x99U);
}

}  // namespace announced_pairs_test
