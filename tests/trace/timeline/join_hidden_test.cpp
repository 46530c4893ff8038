// Joins a log that hides its PSNs: the first PSN is taken from the wire.
#include <string>

#include <gtest/gtest.h>

#include "trace/timeline/join.hpp"

namespace join_hidden_test {

using timeline::Join;
using timeline::PostedRequest;

constexpr const char* server_ip = "192.0.2.1";
constexpr const char* client_ip = "192.0.2.2";

void learn_peer(Join& join, const char* role, std::uint32_t qpn, std::uint32_t peer) {
    join.learn({0,
                role,
                "qp_state",
                {{"qpn", qpn}, {"dest_qpn", peer}, {"sq_psn", "secret"}, {"rq_psn", "secret"}}});
}

void learn_post(Join& join, const char* role, std::uint32_t qpn, std::uint64_t wr_id,
                std::uint32_t first, std::uint32_t last) {
    join.learn({1000,
                role,
                "post_send",
                {{"qpn", qpn},
                 {"wr_id", wr_id},
                 {"opcode", "SEND"},
                 {"psn_offset_first", first},
                 {"psn_offset_last", last}}});
}

// The client's QP 0x12 is connected to the server's 0x11.
Join two_hosts() {
    Join join;
    join.learn({0, "server", "device", {{"gid", "::ffff:192.0.2.1"}}});
    join.learn({0, "client", "device", {{"gid", "::ffff:192.0.2.2"}}});
    learn_peer(join, "server", 0x11, 0x12);
    learn_peer(join, "client", 0x12, 0x11);
    return join;
}

std::optional<PostedRequest> request(Join& join, std::uint32_t psn, bool starts_message = true) {
    return join.cause_of({server_ip, 0x11, psn, false, starts_message});
}

std::optional<PostedRequest> response(Join& join, std::uint32_t psn) {
    return join.cause_of({client_ip, 0x12, psn, true});
}

TEST(JoinHidden, the_first_request_packet_tells_what_the_others_count_from) {
    Join join = two_hosts();
    learn_post(join, "client", 0x12, 1, 0, 2);
    learn_post(join, "client", 0x12, 2, 3, 5);
    const auto first = request(join, 5000);
    ASSERT_TRUE(first);
    EXPECT_EQ(*first, (PostedRequest{"client", 0x12, 1, "SEND", 1, 3, 1000, false}));
    EXPECT_EQ(request(join, 5002, false)->packet, 3u);
    EXPECT_EQ(response(join, 5002), (PostedRequest{"client", 0x12, 1, "SEND", 3, 3, 1000, true}));
    EXPECT_EQ(request(join, 5003)->wr_id, 2u);
    EXPECT_EQ(request(join, 5000)->wr_id, 1u);  // retransmitted
    EXPECT_FALSE(request(join, 4999));
    EXPECT_FALSE(request(join, 5006));
}

TEST(JoinHidden, offsets_are_followed_across_the_wrap) {
    Join join = two_hosts();
    learn_post(join, "client", 0x12, 1, 0, 3);
    learn_post(join, "client", 0x12, 2, 4, 4);
    EXPECT_EQ(request(join, 0xfffffe)->packet, 1u);
    EXPECT_EQ(request(join, 0x000001, false)->packet, 4u);
    EXPECT_EQ(request(join, 0x000002)->wr_id, 2u);
    EXPECT_EQ(response(join, 0xffffff)->packet, 2u);
}

TEST(JoinHidden, offsets_that_pass_2_to_the_24_are_of_the_next_lap) {
    Join join = two_hosts();
    constexpr std::uint32_t step = 0x400000;
    for (std::uint64_t wr = 0; wr < 12; ++wr) {
        const auto offset = static_cast<std::uint32_t>(wr * step) & 0xffffff;
        learn_post(join, "client", 0x12, wr, offset, (offset + step - 1) & 0xffffff);
        const auto cause = request(join, (offset + 0x123456) & 0xffffff);
        ASSERT_TRUE(cause);
        EXPECT_EQ(cause->wr_id, wr);
        EXPECT_EQ(cause->packet, 1u);
    }
}

TEST(JoinHidden, a_response_tells_no_base_and_is_not_joined_before_a_request) {
    Join join = two_hosts();
    learn_post(join, "client", 0x12, 1, 0, 2);
    EXPECT_FALSE(response(join, 5000));
    EXPECT_EQ(request(join, 7000)->packet, 1u);
    EXPECT_FALSE(response(join, 5000));
    EXPECT_EQ(response(join, 7002)->packet, 3u);
}

TEST(JoinHidden, each_queue_pair_and_each_direction_has_a_first_psn_of_its_own) {
    Join join = two_hosts();
    learn_peer(join, "server", 0x21, 0x22);
    learn_peer(join, "client", 0x22, 0x21);
    learn_post(join, "client", 0x12, 1, 0, 0);
    learn_post(join, "client", 0x22, 2, 0, 0);
    learn_post(join, "server", 0x11, 3, 0, 0);
    EXPECT_EQ(request(join, 100)->wr_id, 1u);
    EXPECT_EQ(join.cause_of({server_ip, 0x21, 900, false})->wr_id, 2u);
    EXPECT_EQ(join.cause_of({client_ip, 0x12, 500, false})->role, "server");
    EXPECT_FALSE(join.cause_of({server_ip, 0x21, 100, false}));
}

TEST(JoinHidden, a_packet_that_comes_before_its_events_is_the_first_one_all_the_same) {
    Join join = two_hosts();
    EXPECT_FALSE(request(join, 5000));
    EXPECT_FALSE(request(join, 5001, false));
    learn_post(join, "client", 0x12, 1, 0, 2);
    EXPECT_EQ(request(join, 5002, false)->packet, 3u);
    EXPECT_EQ(request(join, 5000)->packet, 1u);
}

TEST(JoinHidden, a_new_queue_pair_of_the_same_number_begins_anew) {
    Join join = two_hosts();
    join.learn({0, "client", "qp", {{"qpn", 0x12u}}});
    learn_post(join, "client", 0x12, 1, 0, 2);
    EXPECT_EQ(request(join, 5000)->wr_id, 1u);
    join.learn({0, "client", "qp", {{"qpn", 0x12u}}});
    EXPECT_FALSE(request(join, 9000));  // its post follows
    learn_post(join, "client", 0x12, 7, 0, 0);
    EXPECT_EQ(request(join, 9000)->wr_id, 7u);
    EXPECT_EQ(response(join, 9000)->wr_id, 7u);
}

TEST(JoinHidden, both_queue_pairs_of_a_number_are_joined_where_all_events_come_first) {
    Join join = two_hosts();
    for (const std::uint64_t wr : {1u, 7u}) {
        join.learn({0, "client", "qp", {{"qpn", 0x12u}}});
        learn_post(join, "client", 0x12, wr, 0, 2);
    }
    EXPECT_EQ(request(join, 5000)->wr_id, 1u);
    EXPECT_EQ(response(join, 5002)->wr_id, 1u);
    EXPECT_EQ(request(join, 9000)->wr_id, 7u);
    EXPECT_EQ(response(join, 9002)->wr_id, 7u);
}

TEST(JoinHidden, a_capture_that_begins_within_a_message_names_no_cause) {
    Join join = two_hosts();
    learn_post(join, "client", 0x12, 1, 0, 2);
    learn_post(join, "client", 0x12, 2, 3, 3);
    EXPECT_FALSE(request(join, 5001, false));
    EXPECT_FALSE(request(join, 5003));
    EXPECT_FALSE(response(join, 5003));
}

std::optional<PostedRequest> nak(Join& join, std::uint32_t psn) {
    return join.cause_of({client_ip, 0x12, psn, true, false, true});
}

TEST(JoinHidden, a_first_packet_that_was_lost_takes_its_place_when_it_comes_again) {
    Join join = two_hosts();
    learn_post(join, "client", 0x12, 1, 0, 2);
    learn_post(join, "client", 0x12, 2, 3, 3);
    EXPECT_FALSE(request(join, 5001, false));
    EXPECT_FALSE(request(join, 5003));
    EXPECT_FALSE(nak(join, 5000));
    EXPECT_EQ(request(join, 5000)->packet, 1u);
    EXPECT_TRUE(join.was_misled());
    EXPECT_EQ(request(join, 5001, false)->packet, 2u);
    EXPECT_EQ(request(join, 5003)->wr_id, 2u);
}

TEST(JoinHidden, first_messages_that_were_lost_take_their_places_when_they_come_again) {
    Join join = two_hosts();
    for (const std::uint32_t wr : {0u, 1u, 2u, 3u})
        learn_post(join, "client", 0x12, wr, wr, wr);
    EXPECT_EQ(request(join, 5002)->wr_id, 0u) << "as far as one can see";
    EXPECT_FALSE(nak(join, 5000));
    EXPECT_EQ(request(join, 5001)->wr_id, 0u);
    EXPECT_EQ(request(join, 5000)->wr_id, 0u);
    EXPECT_EQ(request(join, 5001)->wr_id, 1u);
    EXPECT_EQ(response(join, 5001)->wr_id, 1u);
    EXPECT_TRUE(join.was_misled());
    EXPECT_FALSE(request(join, 4999)) << "something has been acknowledged";

    Join informed = two_hosts();
    for (const std::uint32_t wr : {0u, 1u, 2u, 3u})
        learn_post(informed, "client", 0x12, wr, wr, wr);
    informed.begin_as(join);
    EXPECT_EQ(request(informed, 5002)->wr_id, 2u);
    EXPECT_FALSE(request(informed, 4999));
    EXPECT_FALSE(informed.was_misled());
}

TEST(JoinHidden, a_log_that_hides_from_some_request_on_names_no_cause_from_there) {
    Join join = two_hosts();
    join.learn({1000,
                "client",
                "post_send",
                {{"qpn", 0x12u}, {"wr_id", 1u}, {"psn_first", 100u}, {"psn_last", 102u}}});
    learn_post(join, "client", 0x12, 2, 0, 5);
    EXPECT_EQ(request(join, 100)->wr_id, 1u);
    EXPECT_FALSE(request(join, 103));
}

}  // namespace join_hidden_test
