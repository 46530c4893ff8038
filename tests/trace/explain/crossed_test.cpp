// Queue pairs that are not connected to each other, without a packet or without the peer's log.
#include "trace/explain/account.hpp"

namespace explain_test {

class Crossed : public Account {
  protected:
    static Pair other_client() {
        Pair pair = client();
        pair.qpn = 0x22;
        pair.dest_qpn = 0x12;
        return pair;
    }
    void connects(std::string_view role, const Pair& pair) {
        make(role, pair);
        ready(role, pair);
    }
    void answers_to(std::uint32_t qpn) { add(answer({.from = 1, .to = 2, .qpn = qpn}, 499)); }
    void ends_later() {
        wait(2000 * ms);
        log("client", R"("event":"process_end","pid":1,"exit_status":0)");
    }
};

TEST_F(Crossed, pairs_show_in_the_log_of_one_end_and_the_responses) {
    connects("client", client());
    connects("client", other_client());
    posts_send(100, 8);
    repeat(100, 1);
    answers_to(0x22);
    repeat(100, 2);
    EXPECT_EQ(causes(), R"(
wrong-qpn certain, fatal
  client → 192.0.2.1, QP 0x000011
  the requests come from the client's queue pair 0x000021, but the responses go to queue pair 0x000022: the queue pair at 192.0.2.1 is connected to that one.
  frame 1: RC SEND Only  PSN 0x000064  8 B
  frame 2: RC Acknowledge  PSN 0x0001f3  ACK, no flow control by credits
  client: queue pair 0x000021, dest_qpn 0x000011
  client: queue pair 0x000022, dest_qpn 0x000012
)");
}

TEST_F(Crossed, pairs_are_less_certain_if_the_other_one_waits_for_responses) {
    connects("client", client());
    connects("client", other_client());
    log("client", R"("event":"post_send","qpn":34,"wr_id":1,"opcode":"SEND","len":8)");
    posts_send(100, 8);
    repeat(100, 1);
    answers_to(0x22);
    repeat(100, 2);
    EXPECT_EQ(answered(), "wrong-qpn likely");
}

TEST_F(Crossed, pairs_do_not_execute_requests) {
    connects("client", client());
    posts_send(100, 8);
    repeat(100, 1);
    answers_to(0x22);
    repeat(100, 2);
    completes("SUCCESS");
    EXPECT_NE(answered().substr(0, 9), "wrong-qpn");
}

TEST_F(Crossed, pairs_get_no_responses_of_their_own) {
    connects("client", client());
    posts_send(100, 8);
    repeat(100, 1);
    answers_to(0x22);
    ack(100);
    repeat(100, 2);
    EXPECT_NE(answered().substr(0, 9), "wrong-qpn");
}

TEST_F(Crossed, pairs_show_in_both_logs_if_a_request_waits) {
    Pair elsewhere = server();
    elsewhere.dest_qpn = 0x22;
    connect(client(), elsewhere);
    posts_send(100, 8);
    ends_later();
    EXPECT_EQ(causes(), R"(
wrong-qpn certain, fatal
  client → server, QP 0x000011
  the server's queue pair 0x000011 is connected to queue pair 0x000022, but the requests come from 0x000021.
  client: its queue pair 0x000021
  server: dest_qpn 0x000022
)");
}

TEST_F(Crossed, psns_show_in_both_logs_if_a_request_waits) {
    Pair other = server();
    other.rq_psn = 101;
    connect(client(), other);
    posts_send(100, 8);
    ends_later();
    EXPECT_EQ(causes(), R"(
wrong-psn certain, fatal
  client → server, QP 0x000011
  the client begins with PSN 0x000064, but the server expects 0x000065.
  client: sq_psn 0x000064
  server: rq_psn 0x000065
)");
}

// A program need not poll at once.
TEST_F(Crossed, psns_are_no_cause_while_a_request_is_new) {
    Pair other = server();
    other.rq_psn = 101;
    connect(client(), other);
    posts_send(100, 8);
    EXPECT_EQ(answered(), "none");
}

TEST_F(Crossed, a_different_path_mtu_does_not_explain_a_send_that_waits) {
    Pair other = server();
    other.path_mtu = 512;
    connect(client(), other);
    posts_send(100, 8);
    ends_later();
    EXPECT_EQ(answered(), "none");
}

TEST_F(Crossed, a_request_waits_for_a_queue_pair_that_was_never_ready) {
    make("server", server());
    make("client", client());
    ready("client", client());
    posts_send(100, 8);
    ends_later();
    EXPECT_EQ(answered(), "peer-not-ready certain");
}

class Shared : public Crossed {
  protected:
    void both_connect_to_0x11() {
        Pair second = other_client();
        second.dest_qpn = 0x11;
        connects("client", client());
        connects("client", second);
    }
};

TEST_F(Shared, queue_pair_of_the_peer_has_one_peer_only) {
    both_connect_to_0x11();
    posts_send(100, 8);
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(causes(), R"(
wrong-qpn likely, fatal
  client → 192.0.2.1, QP 0x000011
  the client's queue pair 0x000021 and 0x000022 are both connected to queue pair 0x000011, which has one peer only.
  client: queue pair 0x000021, dest_qpn 0x000011
  client: queue pair 0x000022, dest_qpn 0x000011
)");
}

TEST_F(Shared, number_of_a_queue_pair_after_the_first_one_ended_is_no_cause) {
    connects("client", client());
    log("client", R"("event":"destroyed","what":"qp","qpn":33)");
    Pair second = other_client();
    second.dest_qpn = 0x11;
    connects("client", second);
    log("client", R"("event":"post_send","qpn":34,"wr_id":1,"opcode":"SEND","len":8)");
    log("client",
        R"("event":"wc","qpn":34,"wr_id":1,"queue":"send","request":0,"status":"RETRY_EXC_ERR")");
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(Shared, queue_pair_that_executed_a_request_is_no_cause) {
    both_connect_to_0x11();
    posts_send(100, 8);
    completes("SUCCESS");
    posts_send(101, 8);
    log("client",
        R"("event":"wc","qpn":33,"wr_id":1,"queue":"send","request":1,"status":"RETRY_EXC_ERR")");
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(Crossed, pairs_of_different_types_drop_each_others_packets) {
    Pair unreliable = server();
    unreliable.type = "UC";
    connect(client(), unreliable);
    posts_send(100, 8);
    give_up(100);
    EXPECT_EQ(answered(), "wrong-qpn certain");
    EXPECT_EQ(first().text,
              "the requests are of type RC, and the server's queue pair 0x000011 is of type UC: it "
              "drops them.");
}

}  // namespace explain_test
