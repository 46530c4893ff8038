// What both logs show without a packet.
#include "trace/explain/account.hpp"

namespace explain_test {

class TwoLogs : public Account {
  protected:
    void ends_with(std::string_view role, std::string_view how) {
        log(role, R"("event":"process_end","pid":1)" + std::string(how));
    }
    /// Connects with rnr_retry 7 at the client.
    void connect_without_limit() {
        connect();
        log("client", R"("event":"qp_state","qpn":33,"state":"RTS","rnr_retry":7)");
    }
    void completes(int request, std::string_view status) {
        log("client", R"("event":"wc","qpn":33,"wr_id":1,"queue":"send","status":")" +
                          std::string(status) + R"(","request":)" + std::to_string(request));
    }
    void receives(int request) {
        receive_completes("SUCCESS", R"(,"request":)" + std::to_string(request));
    }
};

TEST_F(TwoLogs, show_that_the_peers_program_ended_before_the_request) {
    connect();
    ends_with("server", R"(,"exit_status":0)");
    wait(300 * ms);
    posts_send(100, 8);
    completes(0, "RETRY_EXC_ERR");
    EXPECT_EQ(causes(), R"(
peer-gone likely, fatal
  client → server, QP 0x000011
  the program of the server ended before the request that has no response.
  server log: process_end process 1 has ended with status 0
  client log: post_send  wr 1 SEND 8 B  PSN 0x000064 to 0x000064
  client log: wc  wr 1 RETRY_EXC_ERR
)");
}

// {how the peer's queue pair ends first, how then, text}
class PairsEnd
    : public TwoLogs,
      public testing::WithParamInterface<std::tuple<const char*, const char*, const char*>> {};

TEST_P(PairsEnd, is_the_first_one) {
    const auto& [one, other, text] = GetParam();
    connect();
    log("server", one);
    const std::int64_t first_ns = now_;
    wait(50 * ms);
    log("server", other);
    wait(250 * ms);
    posts_send(100, 8);
    completes(0, "RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "peer-gone likely");
    EXPECT_EQ(first().text, std::string("the server's queue pair 0x000011 ") + text +
                                " before the request that has no response.");
    EXPECT_EQ(first().evidence.front().t_ns, first_ns);
    EXPECT_EQ(first().evidence.front().text, std::string("the queue pair ") + text);
}

INSTANTIATE_TEST_SUITE_P(
    All, PairsEnd,
    testing::Values(std::tuple(R"("event":"qp_state","qpn":17,"state":"ERR")",
                               R"("event":"destroyed","what":"qp","qpn":17)", "left RTS"),
                    std::tuple(R"("event":"destroyed","what":"qp","qpn":17)",
                               R"("event":"process_end","pid":1,"exit_status":0)",
                               "was destroyed")));

// {two earlier requests, refused one, max_rd_atomic of the client, answer}. The server accepts one.
class LoggedDepth
    : public TwoLogs,
      public testing::WithParamInterface<std::tuple<const char*, const char*, int, const char*>> {};

TEST_P(LoggedDepth, of_the_responder_is_exceeded_by_reads_and_atomics_alone) {
    const auto& [before, refused, depth, expected] = GetParam();
    connect();
    log("client",
        fmt::format(R"("event":"qp_state","qpn":33,"state":"RTS","max_rd_atomic":{})", depth));
    posts(before, 8);
    posts(before, 8);
    posts(refused, 8);
    completes(2, "REM_INV_REQ_ERR");
    EXPECT_EQ(answered(), expected);
}

INSTANTIATE_TEST_SUITE_P(All, LoggedDepth,
                         testing::Values(std::tuple("RDMA_READ", "ATOMIC_FETCH_AND_ADD", 2,
                                                    "read-depth likely"),
                                         std::tuple("RDMA_READ", "RDMA_READ", 1, "unknown"),
                                         std::tuple("RDMA_WRITE", "RDMA_READ", 2, "unknown"),
                                         std::tuple("SEND", "RDMA_READ", 2, "unknown"),
                                         std::tuple("RDMA_READ", "RDMA_WRITE", 2, "unknown")));

TEST_F(TwoLogs, of_a_write_do_not_show_that_it_arrived) {
    connect();
    server_posts_receive(64);
    posts_send(100, 8);
    receives(0);
    completes(0, "SUCCESS");
    posts_write(101, 0x1000, 0x300, 8);
    completes(1, "RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(TwoLogs, show_that_the_peers_queue_pair_was_destroyed_before_the_request) {
    connect();
    log("server", R"("event":"destroyed","what":"qp","qpn":17)");
    wait(300 * ms);
    posts_send(100, 8);
    completes(0, "RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "peer-gone likely");
    EXPECT_EQ(first().text,
              "the server's queue pair 0x000011 was destroyed before the request that "
              "has no response.");
}

// The clocks of the hosts differ.
TEST_F(TwoLogs, do_not_order_events_that_are_close) {
    connect();
    ends_with("server", R"(,"exit_status":0)");
    wait(100 * ms);
    posts_send(100, 8);
    completes(0, "RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(TwoLogs, show_that_a_message_was_received_whose_response_was_not) {
    connect();
    server_posts_receive(64);
    posts_send(100, 8);
    receives(0);
    completes(0, "RETRY_EXC_ERR");
    EXPECT_EQ(causes(), R"(
acks-lost likely, fatal
  client → server, QP 0x000011
  the server's queue pair 0x000011 received message 1, for which the requester got no response until it gave up: the responses do not reach it.
  client log: post_send  wr 1 SEND 8 B  PSN 0x000064 to 0x000064
  client log: wc  wr 1 RETRY_EXC_ERR
  server: 1 receive completed without an error
)");
}

TEST_F(TwoLogs, do_not_show_whether_a_message_that_was_not_received_was_lost) {
    connect();
    server_posts_receive(64);
    posts_send(100, 8);
    completes(0, "SUCCESS");
    receives(0);
    posts_send(101, 8);
    completes(1, "RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(TwoLogs, show_a_requester_that_waits_for_a_receive) {
    connect_without_limit();
    server_posts_receive(64);
    posts_send(100, 8);
    completes(0, "SUCCESS");
    receives(0);
    posts_send(101, 8);
    wait(1500 * ms);
    ends_with("client", "");
    ends_with("server", "");
    EXPECT_EQ(causes(), R"(
receiver-not-ready likely, fatal
  client → server, QP 0x000011
  the client's queue pair 0x000021 waits for message 2 to be received, and the program of the server posted 1 receive in all.
  client log: post_send  wr 1 SEND 8 B  PSN 0x000065 to 0x000065
  client: rnr_retry 7 (without limit)
)");
}

TEST_F(TwoLogs, of_a_requester_that_has_a_receive_show_nothing) {
    connect_without_limit();
    server_posts_receive(64);
    posts_send(100, 8);
    wait(1500 * ms);
    ends_with("client", "");
    ends_with("server", "");
    EXPECT_EQ(answered(), "none");
}

TEST_F(TwoLogs, of_a_peer_that_ended_do_not_show_that_it_posts_too_few_receives) {
    connect_without_limit();
    posts_send(100, 8);
    log("server", R"("event":"destroyed","what":"qp","qpn":17)");
    wait(1500 * ms);
    ends_with("client", "");
    ends_with("server", "");
    EXPECT_EQ(answered(), "none");
}

TEST_F(TwoLogs, show_more_reads_than_the_peer_accepts) {
    connect();
    log("client", R"("event":"qp_state","qpn":33,"state":"RTS","max_rd_atomic":4)");
    posts("RDMA_READ", 8);
    posts("RDMA_READ", 8);
    completes(1, "REM_INV_REQ_ERR");
    EXPECT_EQ(answered(), "read-depth likely");
    EXPECT_EQ(first().text,
              "the client's queue pair 0x000021 may have 4 READs and atomics "
              "outstanding, and the server's queue pair 0x000011 accepts 1.");
}

class SharedReceive : public TwoLogs {
  protected:
    void connects(int room) {
        make("server", server());
        log("server", R"("event":"qp","qpn":17,"type":"RC","srq":3,"pd":1)");
        ready("server", server());
        make("client", client());
        ready("client", client());
        log("server", R"("event":"post_recv","srq":3,"wr_id":1,"len":)" + std::to_string(room));
    }
};

TEST_F(SharedReceive, is_shorter_than_the_message) {
    connects(100);
    posts_send(100, 3000);
    completes(0, "REM_OP_ERR");
    EXPECT_EQ(causes(), R"(
receive-too-small certain, fatal
  client → server, QP 0x000011
  a message of 3000 bytes does not fit into the longest receive posted to the shared receive queue, which has 100 bytes.
  client log: post_send  wr 1 SEND 3000 B  PSN 0x000064 to 0x000064
  client log: wc  wr 1 REM_OP_ERR
  server: shared receive queue 3 of the server's queue pair 0x000011
)");
}

TEST_F(SharedReceive, has_room_for_the_message) {
    connects(3000);
    posts_send(100, 3000);
    completes(0, "REM_OP_ERR");
    EXPECT_EQ(answered(), "unknown");
}

class LoggedDatagram : public TwoLogs {
  protected:
    void connects(std::string_view q_key = R"(,"q_key":286331153)") {
        make_datagram_pair("server", 1, 0x11, q_key);
        for (int i = 0; i < 4; ++i)
            server_posts_receive(64);
        make_datagram_pair("client", 2, 0x21);
        wait(300 * ms);
    }
    void sends(int request) {
        posts("SEND", 8, R"(,"dest_qpn":17,"q_key":286331153)");
        completes(request, "SUCCESS");
    }
    void are_ended() {
        wait(1500 * ms);
        ends_with("client", "");
        ends_with("server", R"(,"signal":15)");
    }
};

TEST_F(LoggedDatagram, with_another_q_key_is_dropped) {
    connects(R"(,"q_key":7)");
    sends(0);
    are_ended();
    EXPECT_EQ(answered(), "wrong-qkey certain");
}

}  // namespace explain_test
