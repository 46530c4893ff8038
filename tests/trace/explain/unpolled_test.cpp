// Completions that the program did not poll until it ended, and a requester that waits without limit.
#include "trace/explain/account.hpp"

namespace explain_test {

class Unpolled : public Account {
  protected:
    void posts_number(int number, std::uint32_t psn, std::string_view more = "") {
        posts("SEND", 8,
              fmt::format(R"(,"request":{},"signaled":true,"psn_first":{},"psn_last":{}{})", number,
                          psn, psn, more));
    }
    void exchanges(int number, std::uint32_t psn) {
        posts_number(number, psn);
        send(psn);
        ack(psn);
    }
    void arms(std::string_view role, bool solicited_only = false) {
        log(role,
            fmt::format(R"("event":"req_notify","cq":1,"solicited_only":{})", solicited_only));
    }
    void is_ended(std::string_view role, std::int64_t after_ns = 2100 * ms,
                  std::string_view how = R"("signal":15)") {
        wait(after_ns);
        log(role, R"("event":"process_end","pid":1,)" + std::string(how));
    }
};

TEST_F(Unpolled, completion_of_a_queue_that_is_not_armed_again) {
    connect();
    arms("client");
    exchanges(0, 100);
    log("client", R"("event":"cq_event","cq":1)");
    completes("SUCCESS");
    exchanges(1, 101);
    is_ended("client");
    EXPECT_EQ(causes(), R"(
not-polled likely, fatal
  client → server, QP 0x000011
  1 request of the client was acknowledged, and its program did not poll the completion until it ended: it did not arm the completion queue again after the last event.
  client log: completion queue 1 has signalled its channel
  client log: post_send  wr 1 SEND 8 B  PSN 0x000065 to 0x000065
  frame 4: RC Acknowledge  PSN 0x000065  ACK, no flow control by credits
)");
    EXPECT_TRUE(last_.has_failed);
}

TEST_F(Unpolled, completion_that_came_before_the_queue_was_armed) {
    connect();
    exchanges(0, 100);
    exchanges(1, 101);
    arms("client");
    is_ended("client", 2100 * ms, R"("end":"signal or _exit")");
    EXPECT_EQ(answered(), "not-polled likely");
    EXPECT_EQ(first().text,
              "2 requests of the client were acknowledged, and its program did not poll the "
              "completions until it ended: it waited for an event. A completion that is in the "
              "queue before it is armed causes none.");
}

TEST_F(Unpolled, completion_of_a_queue_that_waits_for_solicited_messages) {
    connect();
    arms("client", true);
    exchanges(0, 100);
    is_ended("client");
    EXPECT_EQ(answered(), "not-polled likely");
    EXPECT_NE(first().text.find("it waited for a solicited message"), std::string::npos);
}

TEST_F(Unpolled, completion_without_events_is_possible_only) {
    connect();
    exchanges(0, 100);
    is_ended("client");
    EXPECT_EQ(answered(), "not-polled possible");
    EXPECT_FALSE(first().is_fatal);
}

TEST_F(Unpolled, messages_of_a_server_that_is_ended) {
    connect();
    server_posts_receive(100);
    arms("server");
    for (int i = 0; i < 3; ++i) {
        posts_number(i, 100 + static_cast<std::uint32_t>(i));
        send(100 + static_cast<std::uint32_t>(i));
        ack(100 + static_cast<std::uint32_t>(i));
        log("client",
            fmt::format(
                R"("event":"wc","qpn":33,"wr_id":1,"queue":"send","request":{},"status":"SUCCESS")",
                i));
    }
    receive_completes("SUCCESS");
    is_ended("server");
    EXPECT_EQ(answered(), "not-polled likely");
    EXPECT_TRUE(
        first().text.starts_with("2 messages reached the server's queue pair 0x000011, and "
                                 "its program did not poll the completions"))
        << first().text;
    EXPECT_NE(causes().find("1 receive completed\n"), std::string::npos) << causes();
}

struct Arrived {
    const char* name;
    const char* last;        // opcode of the second request
    std::int64_t before_ns;  // the end of the server
    const char* log;         // a further line of the server's log, or of the client's
    const char* role;
    const char* expected;
};

class UnpolledMessages : public Unpolled, public testing::WithParamInterface<Arrived> {};

// The server polls one of two completions.
TEST_P(UnpolledMessages, of_a_server_that_is_ended) {
    const Arrived& arrived = GetParam();
    make("server", server());
    make("client", client());
    if (*arrived.log != 0)
        log(arrived.role, arrived.log);
    ready("server", server());
    ready("client", client());
    server_posts_receive(100);
    arms("server");
    for (int i = 0; i < 2; ++i) {
        const auto psn = 100 + static_cast<std::uint32_t>(i);
        posts(i == 0 ? "SEND" : arrived.last, 8,
              fmt::format(R"(,"request":{0},"psn_first":{1},"psn_last":{1})", i, psn));
        send(psn);
        ack(psn);
        log("client",
            fmt::format(
                R"("event":"wc","qpn":33,"wr_id":1,"queue":"send","request":{},"status":"SUCCESS")",
                i));
    }
    receive_completes("SUCCESS");
    is_ended("server", arrived.before_ns);
    EXPECT_EQ(answered(), arrived.expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, UnpolledMessages,
    testing::Values(Arrived{"message", "SEND", 2100 * ms, "", "", "not-polled likely"},
                    Arrived{"write_with_immediate", "RDMA_WRITE_WITH_IMM", 2100 * ms, "", "",
                            "not-polled likely"},
                    Arrived{"write", "RDMA_WRITE", 2100 * ms, "", "", "none"},
                    Arrived{"a_moment_before", "SEND", 1900 * ms, "", "", "none"},
                    Arrived{"shared_receives", "SEND", 2100 * ms,
                            R"("event":"qp","qpn":17,"type":"RC","srq":3,"pd":1)", "server",
                            "none"},
                    Arrived{"incomplete_log", "SEND", 2100 * ms, R"("event":"dropped","count":1)",
                            "client", "none"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_F(Unpolled, is_nothing_of_a_program_that_ends_by_itself) {
    connect();
    exchanges(0, 100);
    is_ended("client", 2100 * ms, R"("exit_status":0)");
    EXPECT_EQ(answered(), "none");
}

TEST_F(Unpolled, is_nothing_soon_before_the_end) {
    connect();
    exchanges(0, 100);
    is_ended("client", 1900 * ms);
    EXPECT_EQ(answered(), "none");
}

TEST_F(Unpolled, is_no_request_without_a_response) {
    connect();
    posts_number(0, 100);
    send(100);
    is_ended("client");
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(Unpolled, is_nothing_beside_a_refusal) {
    connect();
    posts_number(0, 100);
    send(100);
    nak(100, syndrome::access_error);
    is_ended("client");
    EXPECT_EQ(answered().find("not-polled"), std::string::npos);
}

class Endless : public Unpolled {
  protected:
    void connect_with(int timeout) {
        make("server", server());
        make("client", client());
        ready("server", server());
        ready("client", client(), timeout);
    }
};

TEST_F(Endless, wait_of_a_requester_without_a_timeout) {
    connect_with(0);
    exchanges(0, 100);
    completes("SUCCESS");
    posts_number(1, 101);
    send(101);
    is_ended("client");
    EXPECT_EQ(causes(), R"(
loss likely, fatal
  client → server, QP 0x000011
  a request has no completion after 2.10 s, and the client's queue pair 0x000021 waits for its response without limit (timeout 0): a packet that is lost is not sent again.
  client log: post_send  wr 1 SEND 8 B  PSN 0x000065 to 0x000065
  client: timeout 0 (without limit)
)");
}

TEST_F(Endless, wait_is_none_with_a_timeout) {
    connect_with(14);
    posts_number(0, 100);
    send(100);
    is_ended("client");
    EXPECT_EQ(answered().find("loss"), std::string::npos);
}

TEST_F(Endless, wait_is_for_a_receive_after_an_rnr_nak) {
    connect_with(0);
    posts_number(0, 100);
    send(100);
    nak(100, syndrome::rnr);
    is_ended("client");
    EXPECT_EQ(answered().find("loss"), std::string::npos);
}

// The program gave up, and did not destroy its queue pair.
TEST_F(Unpolled, completion_of_a_program_that_gave_up) {
    connect();
    exchanges(0, 100);
    arms("client");
    is_ended("client", 2100 * ms, R"("exit_status":1)");
    EXPECT_EQ(answered(), "not-polled likely");
}

TEST_F(Unpolled, completion_of_a_program_that_came_to_its_end) {
    connect();
    exchanges(0, 100);
    arms("client");
    is_ended("client", 2100 * ms, R"("exit_status":0)");
    EXPECT_EQ(answered(), "none");
}

// A request that failed has a completion, too, and did not reach the responder.
TEST_F(Unpolled, message_of_a_failed_request_did_not_arrive) {
    connect();
    posts_number(0, 100);
    repeat(100);
    completes("RETRY_EXC_ERR");
    is_ended("server");
    static_cast<void>(causes());
    EXPECT_TRUE(std::ranges::none_of(last_.causes, [](const explain::Cause& one) {
        return one.code == explain::Code::NotPolled;
    }));
}

// Without the requester's log, the capture has the messages.
TEST_F(Unpolled, message_that_only_the_capture_and_the_log_of_its_receiver_have) {
    make("server", server());
    ready("server", server());
    for (int i = 0; i < 2; ++i)
        server_posts_receive(64);
    send(100);
    ack(100);
    receive_completes("SUCCESS");
    send(101);
    ack(101);
    arms("server");
    is_ended("server", 2100 * ms, R"("exit_status":1)");
    EXPECT_EQ(answered(), "not-polled likely");
    EXPECT_TRUE(
        first().text.starts_with("1 message reached the server's queue pair 0x000011, and "
                                 "its program did not poll the completion until it ended"))
        << first().text;
}

TEST_F(Unpolled, message_that_came_a_moment_before_the_end) {
    make("server", server());
    ready("server", server());
    server_posts_receive(64);
    send(100);
    ack(100);
    arms("server");
    is_ended("server", 1900 * ms, R"("exit_status":1)");
    EXPECT_EQ(answered(), "unknown");
}

}  // namespace explain_test
