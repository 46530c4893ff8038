// Assigns packets of transports without connections or without responses to work requests.
#include <gtest/gtest.h>

#include "trace/timeline/matcher.hpp"

namespace join_datagram_test {

using timeline::Join;
using timeline::PacketKey;
using timeline::PostedRequest;

constexpr const char* server_ip = "192.0.2.1";
constexpr const char* client_ip = "192.0.2.2";

void learn_queue_pair(Join& join, const char* role, const char* gid, std::uint32_t qpn) {
    join.learn({0, role, "device", {{"gid", gid}}});
    join.learn({0, role, "qp", {{"qpn", qpn}, {"type", "UD"}}});
    join.learn({0, role, "qp_state", {{"qpn", qpn}, {"state", "RTS"}}});
}

void learn_post(Join& join, const char* role, std::uint32_t qpn, std::uint64_t wr_id,
                std::uint32_t psn) {
    join.learn({1000,
                role,
                "post_send",
                {{"qpn", qpn},
                 {"wr_id", wr_id},
                 {"opcode", "SEND"},
                 {"psn_first", psn},
                 {"psn_last", psn}}});
}

PacketKey datagram(const char* source, std::uint32_t source_qpn, const char* destination,
                   std::uint32_t dest_qpn, std::uint32_t psn) {
    PacketKey key;
    key.destination = destination;
    key.dest_qpn = dest_qpn;
    key.psn = psn;
    key.source = source;
    key.source_qpn = source_qpn;
    return key;
}

// Both ends have the same QPN and the same first PSN.
Join two_hosts() {
    Join join;
    learn_queue_pair(join, "server", "::ffff:192.0.2.1", 0x14);
    learn_queue_pair(join, "client", "::ffff:192.0.2.2", 0x14);
    learn_post(join, "client", 0x14, 1, 100);
    learn_post(join, "server", 0x14, 2, 100);
    return join;
}

TEST(JoinDatagram, belongs_to_the_queue_pair_that_it_names) {
    Join join = two_hosts();
    EXPECT_EQ(*join.cause_of(datagram(client_ip, 0x14, server_ip, 0x14, 100)),
              (PostedRequest{"client", 0x14, 1, "SEND", 1, 1, 1000, false}));
    EXPECT_EQ(join.cause_of(datagram(server_ip, 0x14, client_ip, 0x14, 100))->role, "server");
}

TEST(JoinDatagram, one_count_of_psns_serves_all_destinations) {
    Join join = two_hosts();
    learn_post(join, "client", 0x14, 3, 101);
    learn_post(join, "client", 0x14, 4, 102);
    EXPECT_EQ(join.cause_of(datagram(client_ip, 0x14, server_ip, 0x15, 101))->wr_id, 3U);
    EXPECT_EQ(join.cause_of(datagram(client_ip, 0x14, "239.10.2.3", 0xffffff, 102))->wr_id, 4U)
        << "a multicast one: nobody at that address wrote a log";
}

TEST(JoinDatagram, of_a_sender_without_a_log_has_no_cause) {
    Join join = two_hosts();
    EXPECT_FALSE(join.cause_of(datagram("198.51.100.1", 0x14, server_ip, 0x14, 100)));
    EXPECT_FALSE(join.cause_of(datagram(client_ip, 0x99, server_ip, 0x14, 100)));
    EXPECT_FALSE(join.cause_of(datagram(client_ip, 0x14, server_ip, 0x14, 101)));
}

// The peer of the receiver's queue pair does not matter: the datagram identifies its sender.
TEST(JoinDatagram, leaves_connected_queue_pairs_alone) {
    Join join = two_hosts();
    join.learn({0, "client", "qp_state", {{"qpn", 0x11U}, {"dest_qpn", 0x12U}}});
    join.learn({0, "server", "qp_state", {{"qpn", 0x12U}, {"dest_qpn", 0x11U}}});
    learn_post(join, "client", 0x11, 9, 500);
    EXPECT_EQ(join.cause_of({server_ip, 0x12, 500, false})->wr_id, 9U);
    EXPECT_FALSE(join.cause_of(datagram(client_ip, 0x14, server_ip, 0x12, 500)));
}

// A work request of UC or UD completes without an acknowledgement, and may complete without a
// packet in the capture.
TEST(JoinDatagram, a_work_request_is_complete_without_an_acknowledgement) {
    Join join = two_hosts();
    learn_post(join, "client", 0x14, 3, 101);
    join.cause_of(datagram(client_ip, 0x14, server_ip, 0x14, 100));
    for (const std::uint64_t wr_id : {1U, 3U})
        join.learn({5000,
                    "client",
                    "wc",
                    {{"qpn", 0x14U}, {"wr_id", wr_id}, {"status", "SUCCESS"}, {"opcode", "SEND"}}});
    std::vector<const timeline::WorkRequest*> of_client;
    for (const auto* request : join.work_requests())
        if (request->role == "client")
            of_client.push_back(request);
    ASSERT_EQ(of_client.size(), 2U);
    for (const auto* request : of_client) {
        EXPECT_EQ(request->status, "SUCCESS");
        EXPECT_TRUE(request->completed_ns);
        EXPECT_FALSE(request->acknowledged_ns);
        EXPECT_EQ(request->answers, 0U);
    }
    EXPECT_EQ(of_client[0]->sent, 1U);
    EXPECT_EQ(of_client[1]->sent, 0U) << "it never came to the wire";
}

TEST(JoinDatagram, is_counted_as_one) {
    timeline::Matcher matcher({}, "server");
    matcher.learn({0, "client", "device", {{"gid", "::ffff:192.0.2.2"}}});
    timeline::PacketRow row;
    row.key = datagram(client_ip, 0x14, server_ip, 0x14, 100);
    matcher.match(row);
    row.key = PacketKey{server_ip, 0x12, 500, false};
    matcher.match(row);
    EXPECT_EQ(matcher.joins().joinable, 2U);
    EXPECT_EQ(matcher.joins().datagrams, 1U);
}

}  // namespace join_datagram_test
