// Errors of a program's own requests and receives.
#include "trace/explain/account.hpp"

namespace explain_test {

class Program : public Account {};

TEST_F(Program, that_sends_from_memory_it_may_not_use) {
    connect();
    posts_send(100, 8);
    completes("LOC_PROT_ERR");
    EXPECT_EQ(causes(), R"(
local-protection certain, fatal
  client → server, QP 0x000011
  a request of the client used memory that its queue pair may not use.
  client log: post_send  wr 1 SEND 8 B  PSN 0x000064 to 0x000064
  client log: wc  wr 1 LOC_PROT_ERR
)");
}

TEST_F(Program, whose_receive_names_memory_it_may_not_use) {
    connect();
    server_posts_receive(16);
    receive_completes("LOC_PROT_ERR");
    EXPECT_EQ(causes(), R"(
local-protection certain, fatal
  server, QP 0x000011
  a receive of the server used memory that its queue pair may not use.
  server log: wc  wr 5 LOC_PROT_ERR (receive)
)");
}

TEST_F(Program, whose_failed_request_is_not_in_the_log) {
    connect();
    completes("LOC_PROT_ERR");
    EXPECT_EQ(causes(), R"(
local-protection certain, fatal
  client, QP 0x000021
  a request of the client used memory that its queue pair may not use.
  client log: wc  wr 1 LOC_PROT_ERR
)");
}

TEST_F(Program, whose_receive_is_too_short) {
    connect();
    posts_send(100, 64);
    send(100, 64);
    server_posts_receive(32);
    server_posts_receive(16);
    receive_completes("LOC_LEN_ERR", R"(,"request":1)");
    EXPECT_EQ(causes(), R"(
receive-too-small certain, fatal
  client → server, QP 0x000011
  a message does not fit into the posted receive, which has 16 bytes.
  server log: wc  wr 5 LOC_LEN_ERR (receive)
)");
}

TEST_F(Program, whose_short_receive_is_not_in_the_log) {
    connect();
    server_posts_receive(16);
    receive_completes("LOC_LEN_ERR", R"(,"request":1)");
    EXPECT_EQ(causes(), R"(
receive-too-small certain, fatal
  server, QP 0x000011
  a message does not fit into the posted receive.
  server log: wc  wr 5 LOC_LEN_ERR (receive)
)");
}

TEST_F(Program, whose_short_receive_has_no_number) {
    connect();
    server_posts_receive(16);
    receive_completes("LOC_LEN_ERR", "");
    EXPECT_EQ(causes(), R"(
receive-too-small certain, fatal
  server, QP 0x000011
  a message does not fit into the posted receive.
  server log: wc  wr 5 LOC_LEN_ERR (receive)
)");
}

TEST_F(Program, whose_short_receive_came_from_a_shared_queue) {
    log("server", R"("event":"qp","qpn":17,"type":"RC","srq":4)");
    server_posts_receive(16);
    receive_completes("LOC_LEN_ERR");
    EXPECT_EQ(causes(), R"(
receive-too-small certain, fatal
  server, QP 0x000011
  a message does not fit into the posted receive.
  server log: wc  wr 5 LOC_LEN_ERR (receive)
)");
}

TEST_F(Program, that_sends_what_its_queue_pair_cannot) {
    connect();
    posts_send(100, 8);
    completes("LOC_LEN_ERR");
    EXPECT_EQ(causes(), R"(
local-length certain, fatal
  client → server, QP 0x000011
  a request of the client has a length that the queue pair cannot send.
  client log: post_send  wr 1 SEND 8 B  PSN 0x000064 to 0x000064
  client log: wc  wr 1 LOC_LEN_ERR
)");
}

TEST_F(Program, whose_too_long_request_is_not_in_the_log) {
    connect();
    completes("LOC_LEN_ERR");
    EXPECT_EQ(causes(), R"(
local-length certain, fatal
  client, QP 0x000021
  a request of the client has a length that the queue pair cannot send.
  client log: wc  wr 1 LOC_LEN_ERR
)");
}

TEST_F(Program, whose_request_soft_roce_fails_before_it_sends) {
    connect();
    posts_send(100, 8);
    completes("LOC_QP_OP_ERR");
    EXPECT_EQ(causes(), R"(
local-protection likely, fatal
  client → server, QP 0x000011
  a request of the client failed before it was sent: Soft-RoCE reports memory that the queue pair may not use in this way.
  client log: post_send  wr 1 SEND 8 B  PSN 0x000064 to 0x000064
  client log: wc  wr 1 LOC_QP_OP_ERR
)");
}

TEST_F(Program, whose_empty_request_fails_for_an_unknown_reason) {
    connect();
    posts_send(100, 0);
    completes("LOC_QP_OP_ERR");
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(Program, whose_unknown_request_fails_for_an_unknown_reason) {
    connect();
    completes("LOC_QP_OP_ERR");
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(Program, whose_request_fails_with_another_error) {
    connect();
    posts_send(100, 8);
    completes("LOC_EEC_OP_ERR");
    EXPECT_EQ(answered(), "unknown");
}

// A receive of a datagram that fails: Soft-RoCE reports no LOC_LEN_ERR. The datagrams have 8 bytes,
// and the receive also needs 40 bytes for the GRH.
struct DatagramReceive {
    std::uint64_t room;
    const char* more;
    const char* expected;
};
class ProgramWithDatagramReceive : public Account,
                                   public testing::WithParamInterface<DatagramReceive> {};

TEST_P(ProgramWithDatagramReceive, is_told_whether_it_was_too_short) {
    make_datagram_pair("server", 1, 0x11);
    make_datagram_pair("client", 2, 0x21);
    add(datagram(to_server, 0x21, 1));
    server_posts_receive(GetParam().room);
    receive_completes("GENERAL_ERR", GetParam().more);
    EXPECT_EQ(answered(), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(All, ProgramWithDatagramReceive,
                         testing::Values(DatagramReceive{47, R"(,"request":0)",
                                                         "receive-too-small certain"},
                                         DatagramReceive{48, R"(,"request":0)", "unknown"},
                                         DatagramReceive{47, R"(,"request":1)", "unknown"},
                                         DatagramReceive{47, "", "unknown"}));

TEST_F(Program, whose_receive_of_datagrams_is_compared_with_its_own_datagrams_only) {
    make_datagram_pair("server", 1, 0x11);
    make_datagram_pair("client", 2, 0x21);
    make_datagram_pair("server", 1, 0x12);
    log("server", R"("event":"post_recv","qpn":18,"wr_id":5,"len":48)");
    add(datagram({.from = 2, .to = 1, .qpn = 0x12}, 0x21, 1));
    server_posts_receive(47);
    receive_completes("GENERAL_ERR");
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(Program, whose_receive_of_a_connection_is_not_compared_with_datagrams) {
    connect();
    send(100, 64);
    ack(100);
    server_posts_receive(16);
    receive_completes("GENERAL_ERR");
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(Program, that_posts_a_datagram_longer_than_a_packet) {
    make_datagram_pair("client", 2, 0x21);
    posts("SEND", 1025, R"(,"dest_qpn":17)");
    EXPECT_EQ(causes(), R"(
local-length certain, fatal
  client → its peer, QP 0x000011
  a datagram of 1025 bytes does not fit into one packet: the path MTU of the port is 1024.
  client log: post_send  wr 1 SEND 1025 B
)");
}

TEST_F(Program, that_posts_the_longest_datagram) {
    make_datagram_pair("client", 2, 0x21);
    posts("SEND", 1024, R"(,"dest_qpn":17)");
    EXPECT_EQ(answered(), "none");
}

TEST_F(Program, that_posts_a_datagram_to_a_port_of_unknown_mtu) {
    make_datagram_pair("client", 2, 0x21, "", "");
    posts("SEND", 1025, R"(,"dest_qpn":17)");
    EXPECT_EQ(answered(), "none");
}

TEST_F(Program, that_posts_a_message_of_two_packets) {
    connect();
    log("client",
        R"("event":"device","device":"rxe0","gid_index":1,"path_mtu":1024,"gid":")" + gid(2) + '"');
    posts_send(100, 1025);
    EXPECT_EQ(answered(), "none");
}

}  // namespace explain_test
