// Path MTUs of the two ends that differ.
#include "trace/explain/account.hpp"

namespace explain_test {

class PathMtu : public Account {};

TEST_F(PathMtu, that_differs) {
    Pair small = server();
    small.path_mtu = 256;
    connect(client(), small);
    send(100, 256);
    nak(100, 0x61);
    EXPECT_EQ(causes(), R"(
path-mtu-mismatch certain, fatal
  client → server, QP 0x000011
  the path MTU is 1024 at the client and 256 at the server.
  frame 1: RC SEND Only  PSN 0x000064  256 B
  client: path_mtu 1024
  server: path_mtu 256
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Invalid Request
)");
}

TEST_F(PathMtu, of_the_responder_that_a_packet_exceeds) {
    Pair small = server();
    small.path_mtu = 256;
    make("server", small);
    ready("server", small);
    send(100, 257);
    nak(100, 0x61);
    EXPECT_EQ(causes(), R"(
path-mtu-mismatch certain, fatal
  192.0.2.2 → server, QP 0x000011
  a packet has 257 bytes of payload, and the path MTU of the server is 256.
  frame 1: RC SEND Only  PSN 0x000064  257 B
  server: path_mtu 256
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Invalid Request
)");
}

TEST_F(PathMtu, of_the_responder_that_packets_just_have) {
    Pair small = server();
    small.path_mtu = 256;
    make("server", small);
    ready("server", small);
    send(100, 256);
    nak(100, 0x61);
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(PathMtu, of_the_responder_that_is_unknown) {
    Pair hidden = server();
    hidden.path_mtu = 0;
    connect(client(), hidden);
    send(100, 1024);
    nak(100, 0x61);
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(PathMtu, is_examined_for_a_read_that_did_not_complete) {
    Pair small = server();
    small.path_mtu = 256;
    connect(client(), small);
    posts("RDMA_READ", 8);
    add(read(to_server, 100, 8));
    add(packet(to_client, opcode::read_only, 100, 8));
    EXPECT_EQ(answered(), "path-mtu-mismatch certain");
    completes("SUCCESS");
    EXPECT_EQ(answered(), "none");
}

TEST_F(PathMtu, of_responses_that_differs_from_the_requesters_log) {
    make("client", client());
    ready("client", client());
    posts("RDMA_READ", 600);
    add(read(to_server, 100, 600));
    add(packet(to_client, opcode::read_first, 100, 512));
    add(packet(to_client, opcode::read_last, 101, 88));
    EXPECT_EQ(causes(), R"(
path-mtu-mismatch certain, fatal
  client → 192.0.2.1, QP 0x000011
  the path MTU is 1024 at the client and 512 at 192.0.2.1, according to the size of packets.
  frame 1: RC RDMA READ Request  PSN 0x000064  va 0x1000 rkey 0x00000077, 600 B
  client: path_mtu 1024
  frame 2: RC RDMA READ response First  PSN 0x000064  ACK, 0 credits  512 B
)");
    completes("SUCCESS");
    EXPECT_EQ(answered(), "none");
}

// Soft-RoCE accepts them.
TEST_F(PathMtu, of_packets_that_differs_is_none_if_nothing_was_refused) {
    make("client", client());
    ready("client", client());
    add(packet(to_client, opcode::send_first, 500, 512));
    add(packet(to_server, opcode::send_first, 100, 1024));
    add(packet(to_server, opcode::send_first, 100, 1024));
    EXPECT_EQ(answered().find("path-mtu"), std::string::npos);
}

TEST_F(PathMtu, of_packets_without_a_log_is_possible) {
    add(packet(to_client, opcode::send_first, 500, 512));
    add(packet(to_server, opcode::send_first, 100, 1024));
    nak(100, 0x61);
    EXPECT_EQ(answered(), "path-mtu-mismatch possible");
}

TEST_F(PathMtu, that_differs_does_not_explain_a_refused_access) {
    Pair small = server();
    small.path_mtu = 256;
    connect(client(), small);
    region("server", 0x1000, 32, 0x300, "local_write remote_write");
    write(100, 0x1000, 0x300, 64);
    nak(100, syndrome::access_error);
    EXPECT_EQ(answered(), "out-of-bounds certain");
    EXPECT_EQ(last_.causes.size(), 1U);
}

TEST_F(PathMtu, of_an_unreliable_connection_is_always_examined) {
    Pair small = server();
    small.path_mtu = 256;
    connect(client(), small);
    add(packet(to_server, opcode::uc_send_only, 100, 8));
    EXPECT_EQ(answered(), "path-mtu-mismatch certain");
}

}  // namespace explain_test
