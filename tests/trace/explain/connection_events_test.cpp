// What explanations of connections that were not established say without the connection manager's messages.
#include "trace/explain/manager.hpp"

namespace explain_test {

// {type of the event, expected}
class ManagerEvent : public Manager,
                     public testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(ManagerEvent, is_reported_without_a_capture) {
    event(GetParam().first);
    EXPECT_EQ(causes(), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(All, ManagerEvent,
                         testing::Values(std::pair("REJECTED", R"(
cm-rejected likely, fatal
  client
  the peer rejected the connection.
  client log: cm_event  REJECTED
)"),
                                         std::pair("UNREACHABLE", R"(
cm-no-answer likely, fatal
  client
  the peer did not respond to the ConnectRequest.
  client log: cm_event  UNREACHABLE
)"),
                                         std::pair("ADDR_ERROR", R"(
wrong-gid likely, fatal
  client
  the address could not be resolved: no host has it, or no RDMA device leads to it.
  client log: cm_event  ADDR_ERROR
)"),
                                         std::pair("ESTABLISHED", "")));

TEST_F(Manager, tells_a_disconnect_request_from_a_connect_request_without_response) {
    event("ESTABLISHED");
    event("UNREACHABLE");
    EXPECT_EQ(causes(), R"(
cm-no-answer likely, fatal
  client
  the peer did not respond to the DisconnectRequest.
  client log: cm_event  UNREACHABLE
)");
}

// The reason is in the event's status; those of datagram services are other codes.
TEST_F(Manager, shows_the_reason_of_a_rejection_without_a_capture) {
    const auto rejected = [this](int status) {
        log("client", R"("event":"cm_event","type":"REJECTED","status":)" + std::to_string(status) +
                          R"(,"id":7)");
    };
    rejected(8);
    EXPECT_EQ(causes(), R"(
cm-rejected likely, fatal
  client
  the peer rejected the connection: Invalid Service ID (no program listens on this port).
  client log: cm_event  REJECTED
)");
    EXPECT_NE(first().advice().find("Start the server"), std::string::npos);
}
TEST_F(Manager, shows_a_call_without_event) {
    calls_connect();
    ends_after(1000 * ms);
    EXPECT_EQ(causes(), R"(
cm-no-answer likely, fatal
  client
  the program called rdma_connect, and no event followed for 1.0 s: there is no response to the ConnectRequest.
  client log: cm_call   rdma_connect  QP 0x000021
)");
}

TEST_F(Manager, shows_a_call_that_does_not_return) {
    log("client", R"("event":"begun","call":"rdma_connect","id":7,"qpn":33)");
    ends_after(1000 * ms);
    EXPECT_NE(causes().find("cm-no-answer likely, fatal"), std::string::npos);
}

TEST_F(Manager, shows_that_the_capture_has_no_request_of_a_call) {
    calls_connect();
    ends_after(1500 * ms);
    add(packet(to_client, opcode::send_only, 500, 8));
    EXPECT_EQ(causes(), R"(
cm-no-answer likely, fatal
  client
  the program called rdma_connect, and no event followed for 1.5 s: there is no response to the ConnectRequest.
  client log: cm_call   rdma_connect  QP 0x000021
  client: the capture has no ConnectRequest
)");
}

TEST_F(Manager, waits_a_second_for_the_event_of_a_call) {
    calls_connect();
    ends_after(1000 * ms - 1);
    EXPECT_EQ(answered(), "none");
}

TEST_F(Manager, takes_a_queue_pair_that_is_ready_for_connected) {
    make("client", client());
    calls_connect();
    ready("client", client());
    ends_after(5000 * ms);
    EXPECT_EQ(answered(), "none");
}

TEST_F(Manager, does_not_take_another_queue_pair_for_connected) {
    make("client", client());
    Pair other = client();
    other.qpn = 0x22;
    make("client", other);
    calls_connect();
    ready("client", other);
    ends_after(5000 * ms);
    EXPECT_EQ(answered(), "cm-no-answer likely");
}

TEST_F(Manager, takes_only_a_later_event_of_the_same_id_for_an_answer) {
    event("ROUTE_RESOLVED");
    calls_connect();
    log("client", R"("event":"cm_event","type":"ESTABLISHED","status":0,"id":8)");
    event("ESTABLISHED", "server");
    ends_after(5000 * ms);
    EXPECT_EQ(answered(), "cm-no-answer likely");
}

TEST_F(Manager, ignores_other_calls) {
    log("client", R"("event":"cm_call","call":"rdma_accept","id":7,"qpn":33)");
    ends_after(5000 * ms);
    EXPECT_EQ(answered(), "none");
}
}  // namespace explain_test
