// Posted requests that are not in the capture.
#include "trace/explain/account.hpp"

namespace explain_test {

class LostRequest : public Account {
  protected:
    /// The capture has no packet of the connection.
    void fails() {
        connect();
        posts_send(100, 8);
        completes("RETRY_EXC_ERR");
    }
    void other_packet(std::uint8_t from, std::uint8_t to) {
        add(packet({.from = from, .to = to, .qpn = 0x55}, opcode::send_only, 7, 8));
    }
    /// One request arrives, and another one has no completion until the program ends `ns` later.
    void waits(std::int64_t ns) {
        connect();
        send(100);
        ack(100);
        posts_send(101, 8);
        wait(ns - 1000);
        log("client", R"("event":"process_end","pid":1)");
    }
    void capture_goes_on() { add(packet(to_client, opcode::send_only, 500, 8)); }
};

TEST_F(LostRequest, of_a_host_that_the_capture_has_in_another_connection) {
    fails();
    other_packet(2, 3);
    EXPECT_EQ(causes(), R"(
path-broken likely, fatal
  client → server, QP 0x000011
  the capture has none of the posted requests: they were lost before it.
  client log: post_send  wr 1 SEND 8 B  PSN 0x000064 to 0x000064
  client log: wc  wr 1 RETRY_EXC_ERR
)");
}

TEST_F(LostRequest, of_a_host_that_the_capture_has_in_a_message_of_the_connection_manager) {
    fails();
    manage(1, wire::CmAttribute::ConnectReply, 0x61, 0x51);
    EXPECT_EQ(answered(), "unknown");
    manage(2, wire::CmAttribute::ReadyToUse, 0x51, 0x61);
    EXPECT_EQ(answered(), "path-broken likely");
}

TEST_F(LostRequest, of_a_host_that_the_capture_does_not_have) {
    fails();
    other_packet(3, 4);
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(LostRequest, at_the_host_of_the_capture) {
    capture_at_server();
    fails();
    other_packet(3, 4);
    EXPECT_EQ(answered(), "path-broken likely");
}

TEST_F(LostRequest, at_another_host_than_that_of_the_capture) {
    explainer_.captured_at(*flow::host_of_gid(gid(3)));
    fails();
    other_packet(1, 3);
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(LostRequest, without_a_capture_is_unknown) {
    fails();
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(LostRequest, after_others_that_arrived) {
    connect();
    send(100);
    ack(100);
    posts_send(101, 8);
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(causes(), R"(
path-broken likely, fatal
  client → server, QP 0x000011
  at some point the posted requests stop appearing in the capture: they were lost before it.
  client log: post_send  wr 1 SEND 8 B  PSN 0x000065 to 0x000065
  client log: wc  wr 1 RETRY_EXC_ERR
)");
}

TEST_F(LostRequest, that_is_larger_than_those_that_arrived) {
    connect();
    send(100, 64);
    send(101, 63);
    ack(101);
    posts_send(102, 2000);
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(causes(), R"(
large-packets-lost likely, fatal
  client → server, QP 0x000011
  packets with up to 64 bytes of payload arrived, but the capture has no packet of a request whose packets have 1024 bytes.
  client log: post_send  wr 1 SEND 2000 B  PSN 0x000066 to 0x000066
  client log: wc  wr 1 RETRY_EXC_ERR
  frame 1: RC SEND Only  PSN 0x000064  64 B
)");
}

TEST_F(LostRequest, that_is_as_large_as_one_that_arrived_and_has_no_completion) {
    connect();
    posts_send(100, 8);
    send(100);
    ack(100);
    completes("SUCCESS");
    posts_send(101, 8);
    wait(2'000 * ms);
    send(99);
    log("client", R"("event":"note","text":"end")");
    EXPECT_EQ(answered(), "path-broken likely");
}

// {opcode, bytes, bytes of a request that arrived, expected}. The path MTU is 1024.
class LostRequestOf
    : public LostRequest,
      public testing::WithParamInterface<std::tuple<const char*, int, int, const char*>> {};

TEST_P(LostRequestOf, its_size_is_compared_with_those_that_arrived) {
    const auto& [name, size, arrived, expected] = GetParam();
    connect();
    send(100, static_cast<std::size_t>(arrived));
    ack(100);
    posts(name, static_cast<std::uint64_t>(size), R"(,"psn_first":101,"psn_last":103)");
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(answered(), expected);
}

INSTANTIATE_TEST_SUITE_P(All, LostRequestOf,
                         testing::Values(std::tuple("SEND", 65, 64, "large-packets-lost likely"),
                                         std::tuple("SEND", 64, 64, "path-broken likely"),
                                         std::tuple("RDMA_READ", 65, 64, "path-broken likely"),
                                         std::tuple("SEND", 2000, 1024, "path-broken likely"),
                                         std::tuple("SEND", 2000, 1023,
                                                    "large-packets-lost likely")));

TEST_F(LostRequest, that_is_larger_is_not_compared_with_requests_without_response) {
    connect();
    send(100, 64);
    posts_send(101, 65);
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "path-broken likely");
}

TEST_F(LostRequest, of_an_unknown_path_mtu_has_its_full_size) {
    Pair hidden = client();
    hidden.path_mtu = 0;
    connect(hidden);
    send(100, 64);
    ack(100);
    posts_send(101, 2000);
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "large-packets-lost likely");
    EXPECT_NE(first().text.find("whose packets have 2000 bytes"), std::string::npos);
}

// {PSN of a packet that was captured, expected}. The failed request has the PSNs 101 to 103.
class LostMessage : public LostRequest,
                    public testing::WithParamInterface<std::pair<std::uint32_t, const char*>> {};

TEST_P(LostMessage, has_a_packet_in_the_capture_or_not) {
    connect();
    send(100, 1024);
    ack(100);
    posts("SEND", 2500, R"(,"psn_first":101,"psn_last":103)");
    send(GetParam().first, 8);
    completes("RETRY_EXC_ERR");
    answered();
    EXPECT_EQ(std::ranges::any_of(last_.causes,
                                  [](const explain::Cause& one) {
                                      return one.text.starts_with("at some point the posted");
                                  }),
              std::string_view(GetParam().second) == "lost");
}

INSTANTIATE_TEST_SUITE_P(All, LostMessage,
                         testing::Values(std::pair(101U, "captured"), std::pair(103U, "captured"),
                                         std::pair(104U, "lost")));

TEST_F(LostRequest, without_a_completion) {
    waits(1000 * ms);
    EXPECT_EQ(causes(), R"(
path-broken possible, fatal
  client → server, QP 0x000011
  a posted request has no completion, and the capture has no packet of it: the path broke, or the capture had ended.
  client log: post_send  wr 1 SEND 8 B  PSN 0x000065 to 0x000065
  frame 2: RC Acknowledge  PSN 0x000064  ACK, no flow control by credits
)");
    capture_goes_on();
    EXPECT_EQ(causes(), R"(
path-broken likely, fatal
  client → server, QP 0x000011
  a posted request has no completion, and the capture has no packet of it: the requests were lost before they were captured.
  client log: post_send  wr 1 SEND 8 B  PSN 0x000065 to 0x000065
  frame 2: RC Acknowledge  PSN 0x000064  ACK, no flow control by credits
)");
}

TEST_F(LostRequest, without_a_completion_was_not_awaited_long_enough) {
    waits(1000 * ms - 1);
    capture_goes_on();
    EXPECT_EQ(answered(), "none");
}

TEST_F(LostRequest, of_a_queue_pair_that_failed_soon_was_not_awaited) {
    connect();
    send(100);
    ack(100);
    posts_send(101, 8);
    wait(500 * ms);
    log("client", R"("event":"qp_state","qpn":33,"state":"ERR")");
    wait(5000 * ms);
    log("client", R"("event":"process_end","pid":1)");
    capture_goes_on();
    EXPECT_EQ(answered(), "none");
}

TEST_F(LostRequest, of_a_log_that_lacks_events_may_have_completed) {
    log("client", R"("event":"dropped","records":12)");
    waits(5000 * ms);
    capture_goes_on();
    EXPECT_EQ(answered(), "none");
}

TEST_F(LostRequest, beside_an_error_of_its_queue_pair_has_that_cause) {
    waits(5000 * ms);
    completes("GENERAL_ERR");
    capture_goes_on();
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(LostRequest, without_a_capture_and_without_a_completion_is_none) {
    connect();
    posts_send(100, 8);
    wait(5000 * ms);
    log("client", R"("event":"process_end","pid":1)");
    EXPECT_EQ(answered(), "none");
}

TEST_F(LostRequest, without_a_completion_and_from_a_host_that_the_capture_does_not_have) {
    connect();
    posts_send(100, 8);
    wait(5000 * ms);
    log("client", R"("event":"process_end","pid":1)");
    other_packet(3, 4);
    EXPECT_EQ(answered(), "none");
    other_packet(2, 3);
    EXPECT_EQ(answered(), "path-broken likely");
}

}  // namespace explain_test
