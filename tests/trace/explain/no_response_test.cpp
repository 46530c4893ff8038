// A responder that stops responding, and the reason for it.
#include "trace/explain/account.hpp"

namespace explain_test {

class Responder : public Account {
  protected:
    /// A request with a response, and the first two copies of one without.
    void falls_silent() {
        send(100);
        ack(100);
        repeat(101, 2);
    }
    void gives_up() {
        wait(67 * ms);
        send(101);
    }
    void log_destroyed() { log("server", R"("event":"destroyed","what":"qp","qpn":17)"); }
    void log_error() { log("server", R"("event":"qp_state","qpn":17,"state":"ERR")"); }
    void log_end(std::string_view role = "server") {
        log(role, R"("event":"process_end","pid":1)");
    }
    /// The host `from` disconnects the other one's queue pair.
    std::uint64_t disconnects(int from, std::string_view qpn) {
        return tell(from, wire::CmAttribute::DisconnectRequest, {{0, "00000061"}, {8, qpn}});
    }
    /// A packet from the server's host that does not belong to the connection.
    std::uint64_t host_sends(std::uint8_t host = 1) {
        return add(packet({.from = host, .to = 3, .qpn = 0x55}, opcode::send_only, 7, 8));
    }
};

TEST_F(Responder, that_destroyed_its_queue_pair) {
    capture_at_server();
    connect();
    send(100);
    ack(100);
    log_destroyed();
    repeat(101);
    EXPECT_EQ(causes(), R"(
peer-gone certain, fatal
  client → server, QP 0x000011
  the server's queue pair 0x000011 was destroyed before the requests that have no response.
  frame 3: RC SEND Only  PSN 0x000065  8 B
  frame 5: RC SEND Only  PSN 0x000065  8 B  (copy 3)
  server log: the queue pair was destroyed
)");
}

TEST_F(Responder, that_failed_by_a_log_of_another_clock) {
    connect();
    send(100);
    ack(100);
    log_error();
    repeat(101);
    EXPECT_EQ(causes(), R"(
peer-gone likely, fatal
  client → server, QP 0x000011
  the server's queue pair 0x000011 left RTS before the requests that have no response.
  frame 3: RC SEND Only  PSN 0x000065  8 B
  frame 5: RC SEND Only  PSN 0x000065  8 B  (copy 3)
  server log: the queue pair went to ERR
)");
}

TEST_F(Responder, that_failed_and_destroyed_its_queue_pair_then) {
    capture_at_server();
    connect();
    send(100);
    ack(100);
    log_error();
    wait(-1000);
    log_destroyed();
    repeat(101);
    EXPECT_EQ(causes(), R"(
peer-gone certain, fatal
  client → server, QP 0x000011
  the server's queue pair 0x000011 left RTS before the requests that have no response.
  frame 3: RC SEND Only  PSN 0x000065  8 B
  frame 5: RC SEND Only  PSN 0x000065  8 B  (copy 3)
  server log: the queue pair went to ERR
)");
}

// The log may be 2 ms late, compared with the second copy of the request.
TEST_F(Responder, whose_queue_pair_ended_at_the_latest_time_possible) {
    capture_at_server();
    connect();
    falls_silent();
    wait(2 * ms - 1000);
    log_destroyed();
    gives_up();
    EXPECT_EQ(answered(), "peer-gone certain");
}

TEST_F(Responder, whose_queue_pair_ended_too_late) {
    capture_at_server();
    connect();
    falls_silent();
    wait(2 * ms - 999);
    log_destroyed();
    gives_up();
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(Responder, whose_queue_pair_ended_after_the_only_copy) {
    capture_at_server();
    connect();
    send(100);
    ack(100);
    log("client", R"("event":"post_send","qpn":33,"wr_id":1,"opcode":"SEND","len":8)");
    send(101);
    wait(2 * ms - 1000);
    log_destroyed();
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(causes(), R"(
peer-gone certain, fatal
  client → server, QP 0x000011
  the server's queue pair 0x000011 was destroyed before the requests that have no response.
  client log: post_send  wr 1 SEND 8 B
  frame 3: RC SEND Only  PSN 0x000065  8 B
  client log: wc  wr 1 RETRY_EXC_ERR
  server log: the queue pair was destroyed
)");
}

TEST_F(Responder, whose_program_ended) {
    connect();
    send(100);
    ack(100);
    log_end();
    repeat(101);
    EXPECT_EQ(causes(), R"(
peer-gone likely, fatal
  client → server, QP 0x000011
  the program of the server ended before the requests that have no response.
  frame 3: RC SEND Only  PSN 0x000065  8 B
  frame 5: RC SEND Only  PSN 0x000065  8 B  (copy 3)
  server log: process_end process 1 has ended
)");
}

TEST_F(Responder, whose_program_ended_at_the_latest_time_possible) {
    capture_at_server();
    connect();
    falls_silent();
    wait(250 * ms - 1000);
    log_end();
    gives_up();
    EXPECT_EQ(answered(), "peer-gone certain");
}

TEST_F(Responder, whose_program_ended_too_late) {
    capture_at_server();
    connect();
    falls_silent();
    wait(250 * ms - 999);
    log_end();
    gives_up();
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(Responder, whose_log_is_not_whole_may_have_another_process) {
    capture_at_server();
    connect();
    send(100);
    ack(100);
    log("server", R"("event":"dropped","records":12)");
    log_end();
    repeat(101);
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(Responder, is_not_blamed_for_the_end_of_the_requesters_program) {
    capture_at_server();
    connect();
    falls_silent();
    log_end("client");
    gives_up();
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(Responder, that_disconnected) {
    send(100);
    ack(100);
    disconnects(1, "000021");
    repeat(101);
    EXPECT_EQ(causes(), R"(
peer-gone likely, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  192.0.2.1 disconnected, and requests arrived after that.
  frame 4: RC SEND Only  PSN 0x000065  8 B
  frame 6: RC SEND Only  PSN 0x000065  8 B  (copy 3)
  frame 3: CM DisconnectRequest
)");
}

TEST_F(Responder, that_disconnected_another_queue_pair) {
    send(100);
    ack(100);
    disconnects(1, "000022");
    repeat(101);
    EXPECT_EQ(answered(), "peer-gone possible");
}

TEST_F(Responder, that_is_disconnected_by_the_requester) {
    send(100);
    ack(100);
    disconnects(2, "000011");
    repeat(101);
    EXPECT_EQ(answered(), "peer-gone possible");
}

TEST_F(Responder, that_disconnects_after_the_last_copy_has_only_stopped_responding) {
    falls_silent();
    gives_up();
    disconnects(1, "000021");
    EXPECT_EQ(causes(), R"(
peer-gone likely, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  queue pair 0x000011 of 192.0.2.1 stopped responding after frame 2, although its host still sends.
  frame 3: RC SEND Only  PSN 0x000065  8 B
  frame 5: RC SEND Only  PSN 0x000065  8 B  (copy 3)
  frame 2: RC Acknowledge  PSN 0x000064  ACK, no flow control by credits
)");
}

// An earlier connection with the same queue pair numbers may have ended. {responses, expected}
class ResponderAfter : public Responder,
                       public testing::WithParamInterface<std::pair<int, const char*>> {};

TEST_P(ResponderAfter, many_frames_since_it_disconnected) {
    disconnects(1, "000021");
    for (std::uint32_t psn = 100; psn < 131; ++psn) {
        send(psn);
        ack(psn);
    }
    for (int i = 0; i < GetParam().first; ++i)
        ack(130);
    repeat(131);
    EXPECT_EQ(answered(), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(All, ResponderAfter,
                         testing::Values(std::pair(1, "peer-gone likely"),
                                         std::pair(2, "peer-gone possible")));

TEST_F(Responder, that_never_responded_stays_unknown_although_its_log_has_no_end) {
    connect();
    repeat(100);
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(Responder, whose_host_still_sends) {
    falls_silent();
    gives_up();
    host_sends();
    EXPECT_EQ(causes(), R"(
peer-gone likely, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  queue pair 0x000011 of 192.0.2.1 stopped responding after frame 2, although its host still sends.
  frame 3: RC SEND Only  PSN 0x000065  8 B
  frame 5: RC SEND Only  PSN 0x000065  8 B  (copy 3)
  frame 2: RC Acknowledge  PSN 0x000064  ACK, no flow control by credits
)");
}

TEST_F(Responder, whose_host_sent_before_the_silence_only) {
    send(100);
    ack(100);
    host_sends();
    repeat(101);
    EXPECT_EQ(answered(), "peer-gone possible");
}

TEST_F(Responder, is_not_alive_because_another_host_sends) {
    falls_silent();
    gives_up();
    host_sends(4);
    EXPECT_EQ(answered(), "peer-gone possible");
}

TEST_F(Responder, whose_host_still_sends_messages_of_the_connection_manager) {
    falls_silent();
    gives_up();
    manage(2, wire::CmAttribute::ConnectRequest, 0x51, 0);
    EXPECT_EQ(answered(), "peer-gone possible");
    manage(1, wire::CmAttribute::ConnectReply, 0x61, 0x99);
    EXPECT_EQ(answered(), "peer-gone likely");
}

TEST_F(Responder, at_whose_host_the_capture_was_made) {
    capture_at_server();
    falls_silent();
    gives_up();
    EXPECT_EQ(causes(), R"(
peer-gone likely, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  queue pair 0x000011 of 192.0.2.1 stopped responding after frame 2.
  frame 3: RC SEND Only  PSN 0x000065  8 B
  frame 5: RC SEND Only  PSN 0x000065  8 B  (copy 3)
  frame 2: RC Acknowledge  PSN 0x000064  ACK, no flow control by credits
)");
}

TEST_F(Responder, whose_queue_pair_was_ready_and_whose_host_is_silent) {
    connect();
    falls_silent();
    gives_up();
    EXPECT_EQ(causes(), R"(
path-broken likely, fatal
  client → server, QP 0x000011
  after frame 2 no packet arrived from the server, whose queue pair was ready.
  frame 3: RC SEND Only  PSN 0x000065  8 B
  frame 5: RC SEND Only  PSN 0x000065  8 B  (copy 3)
  frame 2: RC Acknowledge  PSN 0x000064  ACK, no flow control by credits
)");
    host_sends();
    EXPECT_EQ(answered(), "unknown");
}

}  // namespace explain_test
