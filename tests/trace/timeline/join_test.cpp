#include "trace/timeline/join.hpp"

#include <gtest/gtest.h>

namespace join_test {

using timeline::Join;
using timeline::PostedRequest;

constexpr const char* server_ip = "192.0.2.1";
constexpr const char* client_ip = "192.0.2.2";

void learn_host(Join& join, const char* role, const char* gid, std::uint32_t qpn,
                std::uint32_t peer) {
    join.learn({0, role, "device", {{"gid", gid}}});
    join.learn({0, role, "qp_state", {{"qpn", qpn}, {"dest_qpn", peer}}});
}

void learn_post(Join& join, const char* role, std::uint32_t qpn, std::uint64_t wr_id,
                std::uint32_t first, std::uint32_t last, const char* opcode = "RDMA_WRITE") {
    join.learn({1000,
                role,
                "post_send",
                {{"qpn", qpn},
                 {"wr_id", wr_id},
                 {"opcode", opcode},
                 {"psn_first", first},
                 {"psn_last", last}}});
}

// Both ends use the same QPN, as on two hosts after boot: only the address distinguishes them.
Join two_hosts() {
    Join join;
    learn_host(join, "server", "::ffff:192.0.2.1", 0x11, 0x11);
    learn_host(join, "client", "::ffff:192.0.2.2", 0x11, 0x11);
    return join;
}

TEST(Join, gives_a_request_to_its_sender_and_a_response_to_its_receiver) {
    Join join = two_hosts();
    learn_post(join, "client", 0x11, 1, 100, 102);
    const auto request = join.cause_of({server_ip, 0x11, 101, false});
    ASSERT_TRUE(request);
    EXPECT_EQ(*request, (PostedRequest{"client", 0x11, 1, "RDMA_WRITE", 2, 3, 1000, false}));
    const auto response = join.cause_of({client_ip, 0x11, 102, true});
    ASSERT_TRUE(response);
    EXPECT_EQ(*response, (PostedRequest{"client", 0x11, 1, "RDMA_WRITE", 3, 3, 1000, true}));
}

TEST(Join, does_not_take_a_packet_for_one_of_the_other_direction) {
    Join join = two_hosts();
    learn_post(join, "client", 0x11, 1, 100, 102);
    EXPECT_FALSE(
        join.cause_of({client_ip, 0x11, 101, false}));  // request of the server, which posted none
    EXPECT_FALSE(join.cause_of({server_ip, 0x11, 101, true}));
}

TEST(Join, leaves_psns_alone_that_no_request_has) {
    Join join = two_hosts();
    learn_post(join, "client", 0x11, 1, 100, 102);
    EXPECT_FALSE(join.cause_of({server_ip, 0x11, 99, false}));
    EXPECT_FALSE(join.cause_of({server_ip, 0x11, 103, false}));
    EXPECT_FALSE(join.cause_of({server_ip, 0x12, 101, false}));
    EXPECT_FALSE(join.cause_of({"198.51.100.1", 0x11, 101, false}));
}

TEST(Join, follows_requests_across_the_wrap) {
    Join join = two_hosts();
    learn_post(join, "client", 0x11, 1, 0xfffffe, 0x000001);
    learn_post(join, "client", 0x11, 2, 0x000002, 0x000002, "SEND");
    EXPECT_EQ(join.cause_of({server_ip, 0x11, 0xfffffe, false})->packet, 1u);
    EXPECT_EQ(join.cause_of({server_ip, 0x11, 0x000001, false})->packet, 4u);
    EXPECT_EQ(join.cause_of({server_ip, 0x11, 0x000002, false})->wr_id, 2u);
    EXPECT_EQ(join.cause_of({server_ip, 0x11, 0xffffff, false})->wr_id, 1u);  // retransmitted
}

TEST(Join, tells_the_laps_of_the_counter_apart) {
    Join join = two_hosts();
    constexpr std::uint32_t step = 0x400000;  // four requests per wrap
    for (std::uint64_t wr = 0; wr < 12; ++wr) {
        const auto first = static_cast<std::uint32_t>(wr * step) & 0xffffff;
        learn_post(join, "client", 0x11, wr, first, first + step - 1);
        const auto cause = join.cause_of({server_ip, 0x11, first + 5, false});
        ASSERT_TRUE(cause);
        EXPECT_EQ(cause->wr_id, wr);
        EXPECT_EQ(cause->packet, 6u);
    }
}

TEST(Join, knows_ipv6_hosts_by_their_gid) {
    Join join;
    learn_host(join, "server", "2001:db8::1", 0x11, 0x12);
    learn_host(join, "client", "2001:db8::2", 0x12, 0x11);
    learn_post(join, "server", 0x11, 9, 5, 5);
    EXPECT_EQ(join.cause_of({"2001:db8::2", 0x12, 5, false})->role, "server");
}

TEST(Join, works_where_one_host_plays_both_roles) {
    Join join;
    learn_host(join, "server", "::ffff:192.0.2.1", 0x11, 0x12);
    learn_host(join, "client", "::ffff:192.0.2.1", 0x12, 0x11);
    learn_post(join, "client", 0x12, 1, 100, 100);
    EXPECT_EQ(join.cause_of({server_ip, 0x11, 100, false})->role, "client");
    EXPECT_TRUE(join.cause_of({server_ip, 0x12, 100, true})->is_response);
}

// Three hosts after boot: the queue pairs of all clients have the same number.
TEST(Join, tells_clients_apart_by_their_addresses) {
    Join join;
    join.learn({0, "server", "device", {{"gid", "::ffff:192.0.2.1"}}});
    join.learn({0, "server", "qp_state", {{"qpn", 0x11}, {"dest_qpn", 0x11}}});
    join.learn({0, "server", "qp_state", {{"qpn", 0x12}, {"dest_qpn", 0x11}}});
    learn_host(join, "client", "::ffff:192.0.2.2", 0x11, 0x11);
    learn_host(join, "client2", "::ffff:192.0.2.3", 0x11, 0x12);
    learn_post(join, "client", 0x11, 1, 100, 100);
    learn_post(join, "client2", 0x11, 1001, 100, 100);
    const auto cause_of = [&](const char* from, const char* to, std::uint32_t qpn, bool response) {
        timeline::PacketKey key{to, qpn, 100, response};
        key.source = from;
        return join.cause_of(key);
    };
    const auto first = cause_of(client_ip, server_ip, 0x11, false);
    const auto second = cause_of("192.0.2.3", server_ip, 0x12, false);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->role, "client");
    EXPECT_EQ(second->role, "client2");
    EXPECT_EQ(second->wr_id, 1001U);
    EXPECT_EQ(cause_of(server_ip, client_ip, 0x11, true)->role, "client");
    EXPECT_EQ(cause_of(server_ip, "192.0.2.3", 0x11, true)->role, "client2");
}

// In a run that is read while it continues, a packet of the second client precedes its log.
TEST(Join, gives_nobody_the_packet_of_a_client_it_has_not_heard_of) {
    Join join;
    join.learn({0, "server", "device", {{"gid", "::ffff:192.0.2.1"}}});
    join.learn({0, "server", "qp_state", {{"qpn", 0x12}, {"dest_qpn", 0x11}}});
    learn_host(join, "client", "::ffff:192.0.2.2", 0x11, 0x11);
    learn_post(join, "client", 0x11, 1, 100, 100);
    timeline::PacketKey key{server_ip, 0x12, 100, false};
    key.source = "192.0.2.3";
    EXPECT_FALSE(join.cause_of(key));
}

timeline::PacketKey request(const char* from, const char* to, std::uint32_t qpn,
                            std::uint32_t psn) {
    timeline::PacketKey key{to, qpn, psn, false};
    key.source = from;
    return key;
}

TEST(Join, knows_requests_by_their_sender_s_log_alone) {
    Join join;
    learn_host(join, "client", "::ffff:192.0.2.2", 0x12, 0x11);
    learn_host(join, "client", "::ffff:192.0.2.2", 0x13, 0x11);  // connected to another server
    learn_post(join, "client", 0x12, 1, 100, 102);
    learn_post(join, "client", 0x13, 2, 7000, 7000);
    EXPECT_EQ(join.cause_of(request(client_ip, server_ip, 0x11, 101))->wr_id, 1U);
    EXPECT_EQ(join.cause_of(request(client_ip, "192.0.2.3", 0x11, 7000))->wr_id, 2U);
    EXPECT_FALSE(join.cause_of(request(server_ip, client_ip, 0x11, 101)));
    EXPECT_TRUE(join.cause_of({client_ip, 0x12, 102, true})->is_response);
}

TEST(Join, knows_the_peers_that_a_number_had_in_turn) {
    Join join;
    learn_host(join, "server", "::ffff:192.0.2.1", 0x11, 0x21);
    learn_host(join, "client", "::ffff:192.0.2.2", 0x21, 0x11);
    learn_post(join, "client", 0x21, 1, 100, 100);
    for (const char* role : {"server", "client"})
        join.learn({0, role, "qp", {{"qpn", role == std::string("server") ? 0x11U : 0x22U}}});
    learn_host(join, "server", "::ffff:192.0.2.1", 0x11, 0x22);
    learn_host(join, "client", "::ffff:192.0.2.2", 0x22, 0x11);
    learn_post(join, "client", 0x22, 2, 5000, 5000);
    EXPECT_EQ(join.cause_of(request(client_ip, server_ip, 0x11, 100))->wr_id, 1U);
    EXPECT_EQ(join.cause_of(request(client_ip, server_ip, 0x11, 5000))->wr_id, 2U);
}

TEST(Join, tells_connections_of_a_number_apart_that_begin_with_the_same_psn) {
    Join join = two_hosts();
    for (std::uint64_t connection = 0; connection < 3; ++connection) {
        join.learn({0, "client", "qp", {{"qpn", 0x11U}}});
        learn_post(join, "client", 0x11, connection * 10, 0, 1);
        learn_post(join, "client", 0x11, connection * 10 + 1, 2, 2);
    }
    for (std::uint64_t connection = 0; connection < 3; ++connection) {
        for (const std::uint32_t psn : {0U, 1U, 2U}) {
            const auto cause = join.cause_of(request(client_ip, server_ip, 0x11, psn));
            ASSERT_TRUE(cause);
            EXPECT_EQ(cause->wr_id, connection * 10 + psn / 2);
            EXPECT_EQ(cause->seen, timeline::Transmission::First);
        }
        const auto again = join.cause_of(request(client_ip, server_ip, 0x11, 2));
        EXPECT_EQ(again->wr_id, connection * 10 + 1);
        EXPECT_EQ(again->seen, timeline::Transmission::Again);
        EXPECT_EQ(join.cause_of({client_ip, 0x11, 2, true})->wr_id, connection * 10 + 1);
    }
}

TEST(Join, one_log_may_have_both_ends) {
    Join join;
    learn_host(join, "mpi", "::ffff:192.0.2.1", 0x11, 0x12);
    learn_host(join, "mpi", "::ffff:192.0.2.2", 0x12, 0x11);  // the other port of the host
    learn_post(join, "mpi", 0x12, 1, 100, 100);
    EXPECT_EQ(join.cause_of(request(client_ip, server_ip, 0x11, 100))->wr_id, 1U);
    EXPECT_TRUE(join.cause_of({client_ip, 0x12, 100, true})->is_response);
}

TEST(Join, finds_packets_of_a_capture_that_begins_laps_behind_the_log) {
    Join join = two_hosts();
    constexpr std::uint32_t step = 0x400000;
    for (std::uint64_t wr = 0; wr < 9; ++wr) {
        const auto first = static_cast<std::uint32_t>(wr * step) & 0xffffff;
        learn_post(join, "client", 0x11, wr, first, wr == 8 ? first + 10 : first + 9);
    }
    // Only the 9th request has this PSN.
    EXPECT_EQ(join.cause_of({server_ip, 0x11, 10, false})->wr_id, 8U);
}

}  // namespace join_test
