// Settings that differ between the two ends of a connection, or that an end does not provide.
#include "trace/explain/scene.hpp"

namespace explain_test {

class EndsOf : public Scene {};

TEST_F(EndsOf, first_psns_that_differ) {
    Pair wrong = server();
    wrong.rq_psn = 90;
    connect(client(), wrong);
    posts_send(100, 8);
    send(100);
    nak(90, syndrome::psn_error);
    give_up(100);
    EXPECT_EQ(answered(), "wrong-psn certain");
}

TEST_F(EndsOf, first_psns_that_differ_show_without_logs) {
    send(100);
    nak(90, syndrome::psn_error);
    give_up(100);
    EXPECT_EQ(answered(), "wrong-psn likely");
}

TEST_F(EndsOf, a_queue_pair_that_is_not_there) {
    Pair astray = client();
    astray.dest_qpn = 0x12;
    make("server", server());
    ready("server", server());
    make("client", astray);
    ready("client", astray);
    posts_send(100, 8);
    for (int copy = 0; copy < 4; ++copy)
        add(packet({.from = 2, .to = 1, .qpn = 0x12}, opcode::send_only, 100, 8));
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "wrong-qpn certain");
}

TEST_F(EndsOf, a_queue_pair_that_never_got_ready) {
    make("server", server());
    make("client", client());
    ready("client", client());
    posts_send(100, 8);
    give_up(100);
    EXPECT_EQ(answered(), "peer-not-ready certain");
}

TEST_F(EndsOf, a_queue_pair_that_got_ready_late) {
    capture_at_server();
    make("server", server());
    make("client", client());
    ready("client", client());
    posts_send(100, 8);
    send(100);
    wait(67 * ms);
    ready("server", server());
    send(100);
    ack(100);
    completes("SUCCESS");
    EXPECT_EQ(answered(), "peer-not-ready certain");
    EXPECT_FALSE(first().is_fatal);
}

// Without a capture, the clocks of the logs cannot be compared.
TEST_F(EndsOf, a_queue_pair_that_got_ready_late_by_another_clock) {
    make("server", server());
    make("client", client());
    ready("client", client());
    posts_send(100, 8);
    wait(67 * ms);
    ready("server", server());
    completes("REM_OP_ERR");
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(EndsOf, an_address_that_is_not_the_peers) {
    Pair astray = client();
    astray.dest_gid = gid(9);
    connect(astray);
    posts_send(100, 8);
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "wrong-gid certain");
}

// A third host, whose log is not given, may have the address: it has sent packets, or nobody knows.
TEST_F(EndsOf, an_address_of_a_host_without_a_log) {
    Pair elsewhere = client();
    elsewhere.dest_gid = gid(9);
    Pair idle = server();
    idle.dest_gid = gid(8);
    connect(elsewhere, idle);
    posts_send(100, 8);
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "wrong-gid likely");
    add(packet({.from = 9, .to = 1, .qpn = 0x55}, opcode::send_only, 7, 8));
    EXPECT_EQ(answered().find("wrong-gid"), std::string::npos);
}

TEST_F(EndsOf, a_responder_that_is_connected_to_another_address) {
    Pair astray = server();
    astray.dest_gid = gid(9);
    connect(client(), astray);
    posts_send(100, 8);
    give_up(100);
    EXPECT_EQ(answered(), "wrong-gid certain");
}

TEST_F(EndsOf, a_receiver_without_receives) {
    connect();
    posts_send(100, 8);
    for (int copy = 0; copy < 4; ++copy) {
        send(100);
        nak(100, syndrome::rnr);
        wait(1 * ms);
    }
    completes("RNR_RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "receiver-not-ready certain");
    EXPECT_TRUE(first().is_fatal);
}

TEST_F(EndsOf, a_path_mtu_that_differs) {
    Pair small = server();
    small.path_mtu = 256;
    connect(client(), small);
    posts_send(100, 1000);
    send(100, 1000);
    nak(100, 0x61);
    completes("REM_INV_REQ_ERR");
    EXPECT_EQ(answered(), "path-mtu-mismatch certain");
}

TEST_F(EndsOf, a_full_send_queue) {
    connect();
    log("client",
        R"("event":"failed","call":"ibv_post_send","error":"ENOMEM","qpn":33,"wr_id":9,"sends_outstanding":16)");
    EXPECT_EQ(answered(), "send-queue-full certain");
}

TEST_F(EndsOf, memory_that_the_requester_may_not_use) {
    connect();
    posts_send(100, 8);
    completes("LOC_PROT_ERR");
    EXPECT_EQ(answered(), "local-protection certain");
}

}  // namespace explain_test
