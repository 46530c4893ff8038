// What explanations of connections that were not established say.
#include "trace/explain/manager.hpp"

#include "wire/encapsulations.hpp"

namespace explain_test {

TEST_F(Manager, shows_the_port_and_the_event_of_a_rejection) {
    log("server", R"("event":"device","device":"rxe0","gid_index":1,"gid":")" + gid(1) + '"');
    event("REJECTED");
    ask_for_port();
    reject(8);
    EXPECT_EQ(causes(), R"(
cm-rejected certain, fatal
  192.0.2.2 → server, port 5791
  the server rejected the connection: Invalid Service ID (no program listens on this port).
  frame 1: CM ConnectRequest  comm 0x00000051, QP 0x000021, PSN 0x000064, path MTU 1024, port 5791
  frame 2: CM ConnectReject  reason 8: Invalid Service ID
  client log: cm_event  REJECTED
)");
}

TEST_F(Manager, shows_a_rejection_whose_request_was_not_captured) {
    reject(28);
    EXPECT_EQ(causes(), R"(
cm-rejected certain, fatal
  192.0.2.1 → 192.0.2.2
  192.0.2.1 rejected the connection: Consumer Reject (the program refused it).
  frame 1: CM ConnectReject  reason 28: Consumer Reject
)");
}

TEST_F(Manager, adds_nothing_to_another_reason) {
    ask();
    reject(6);
    EXPECT_EQ(causes(), R"(
cm-rejected certain, fatal
  192.0.2.2 → 192.0.2.1
  192.0.2.1 rejected the connection: Invalid Communication ID.
  frame 1: CM ConnectRequest  comm 0x00000051, QP 0x000000, PSN 0x000000, path MTU 0
  frame 2: CM ConnectReject  reason 6: Invalid Communication ID
)");
}

TEST_F(Manager, shows_the_status_of_a_service_that_refuses) {
    tell(2, Message::ServiceIdResReq, {{0, "00000051"}, {8, port_service}});
    tell(1, Message::ServiceIdResReqResp, {{0, "00000051"}, {4, "02"}});
    EXPECT_EQ(causes(), R"(
cm-rejected certain, fatal
  192.0.2.2 → 192.0.2.1, port 5791
  192.0.2.1 rejected the connection: Rejected by the service provider.
  frame 1: CM ServiceIDResReq
  frame 2: CM ServiceIDResReqResp  status 2: Rejected by the service provider
)");
}

// A capture of all interfaces has each message twice.
TEST_F(Manager, counts_no_copies_that_came_sooner_than_any_timer) {
    ask();
    ask();
    wait(1 * ms);
    manage(1, Message::ConnectReply, servers, clients);
    manage(1, Message::ConnectReply, servers, clients);
    manage(2, Message::ReadyToUse, clients, servers);
    EXPECT_EQ(answered(), "none");
}

TEST_F(Manager, shows_a_rejection_that_came_late) {
    ask();
    wait(2000 * ms);
    ask();
    wait(1000 * ms);
    reject(28);
    EXPECT_EQ(causes(), R"(
cm-no-answer likely, fatal
  192.0.2.2 → 192.0.2.1
  192.0.2.1 did not respond to the request for 3.0 s and then rejected it: the program did not handle its connection events before it ended.
  frame 1: CM ConnectRequest  comm 0x00000051, QP 0x000000, PSN 0x000000, path MTU 0
  frame 3: CM ConnectReject  reason 28: Consumer Reject
)");
}

// {nanoseconds until the rejection, its reason, copies of the request, expected}
class Rejection
    : public Manager,
      public testing::WithParamInterface<std::tuple<std::int64_t, int, int, const char*>> {};

TEST_P(Rejection, is_late_or_not) {
    const auto& [delay, reason, copies, expected] = GetParam();
    ask();
    wait(delay - 2000);
    for (int copy = 1; copy < copies; ++copy)
        ask();
    wait(std::int64_t{1000} * (2 - copies));
    reject(static_cast<std::uint16_t>(reason));
    EXPECT_EQ(answered(), expected);
}

INSTANTIATE_TEST_SUITE_P(All, Rejection,
                         testing::Values(std::tuple(3000 * ms + 1, 28, 2, "cm-no-answer likely"),
                                         std::tuple(3000 * ms, 28, 2, "cm-rejected certain"),
                                         std::tuple(3000 * ms + 1, 8, 2, "cm-rejected certain"),
                                         std::tuple(3000 * ms + 1, 28, 1, "cm-rejected certain")));

// An ICMP error of 10.9.0.2 that quotes the IP and UDP headers.
TEST_F(Manager, shows_who_dropped_a_request) {
    ask_for_port();
    auto quoted = wire::encode(packet(to_server, opcode::send_only, 1, 8));
    add(wire_test::in_ethernet_ipv4(
        1, wire_test::joined("0303 0000 00000000",
                             util::Bytes(quoted).subspan(wire::Ethernet::size, 28))));
    EXPECT_EQ(causes(), R"(
cm-no-answer certain, fatal
  192.0.2.2 → 192.0.2.1, port 5791
  ConnectRequest was sent 1 times, and there is no response: 10.9.0.2 dropped it and reported this.
  frame 1: CM ConnectRequest  comm 0x00000051, QP 0x000021, PSN 0x000064, path MTU 1024, port 5791
  frame 2: ICMP port unreachable, about 192.0.2.2 → 192.0.2.1 UDP 49443 → 4791
)");
}

TEST_F(Manager, shows_a_request_without_response) {
    ask_for_port();
    wait(4000 * ms);
    ask_for_port();
    EXPECT_EQ(causes(), R"(
cm-no-answer certain, fatal
  192.0.2.2 → 192.0.2.1, port 5791
  ConnectRequest was sent 2 times, and there is no response.
  frame 1: CM ConnectRequest  comm 0x00000051, QP 0x000021, PSN 0x000064, path MTU 1024, port 5791
  frame 2: CM ConnectRequest  comm 0x00000051, QP 0x000021, PSN 0x000064, path MTU 1024, port 5791
)");
}

TEST_F(Manager, shows_the_event_of_a_request_without_response) {
    event("UNREACHABLE");
    ask();
    EXPECT_EQ(causes(), R"(
cm-no-answer certain, fatal
  192.0.2.2 → 192.0.2.1
  ConnectRequest was sent 1 times, and there is no response.
  frame 1: CM ConnectRequest  comm 0x00000051, QP 0x000000, PSN 0x000000, path MTU 0
  client log: cm_event  UNREACHABLE
)");
}

TEST_F(Manager, shows_the_receipt_of_a_request_without_response) {
    ask();
    manage(1, Message::MsgRcptAck, servers, clients);
    wait(4000 * ms);
    ask();
    manage(1, Message::MsgRcptAck, servers, clients);
    EXPECT_EQ(causes(), R"(
cm-no-answer certain, fatal
  192.0.2.2 → 192.0.2.1
  ConnectRequest was sent 2 times, and there is no response: it arrived (MsgRcptAck), and no program accepted it.
  frame 1: CM ConnectRequest  comm 0x00000051, QP 0x000000, PSN 0x000000, path MTU 0
  frame 2: CM MsgRcptAck
  frame 3: CM ConnectRequest  comm 0x00000051, QP 0x000000, PSN 0x000000, path MTU 0
)");
}

TEST_F(Manager, shows_a_request_in_another_partition) {
    ask_again(0x8123);
    EXPECT_EQ(causes(), R"(
wrong-pkey likely, fatal
  192.0.2.2 → 192.0.2.1
  there is no response to the ConnectRequest, whose packet has P_Key 0x8123. The default partition is 0xffff.
  frame 1: CM ConnectRequest  comm 0x00000051, QP 0x000000, PSN 0x000000, path MTU 0
)");
}

TEST_F(Manager, takes_limited_members_for_members_of_the_default_partition) {
    ask_again(0x7fff);
    EXPECT_EQ(answered(), "cm-no-answer certain");
}

// {host and queue pair of a request on the new connection, expected}
class UsedConnection
    : public Manager,
      public testing::WithParamInterface<std::tuple<int, int, std::uint32_t, const char*>> {};

TEST_P(UsedConnection, needs_no_ready_to_use) {
    const auto& [from, to, qpn, expected] = GetParam();
    ask();
    for (int copy = 0; copy < 2; ++copy) {
        wait(1 * ms);
        tell(1, Message::ConnectReply, {{0, "00000061"}, {4, "00000051"}, {12, "000011"}});
    }
    add(packet(
        {.from = static_cast<std::uint8_t>(from), .to = static_cast<std::uint8_t>(to), .qpn = qpn},
        opcode::send_only, 100, 8));
    EXPECT_EQ(answered(), expected);
}

INSTANTIATE_TEST_SUITE_P(All, UsedConnection,
                         testing::Values(std::tuple(2, 1, 0x11, "none"),
                                         std::tuple(3, 1, 0x11, "cm-no-answer certain"),
                                         std::tuple(2, 3, 0x11, "cm-no-answer certain"),
                                         std::tuple(2, 1, 0x12, "cm-no-answer certain")));

TEST_F(Manager, shows_a_reply_that_was_sent_twice) {
    ask();
    manage(1, Message::ConnectReply, servers, clients);
    wait(4000 * ms);
    manage(1, Message::ConnectReply, servers, clients);
    manage(2, Message::ReadyToUse, clients, servers);
    EXPECT_EQ(causes(), R"(
loss likely, 4000001 us
  192.0.2.1 → 192.0.2.2
  ConnectReply was sent 2 times in 4.0 s until the connection was established: the first one or its response was lost.
  frame 2: CM ConnectReply
  frame 3: CM ConnectReply
)");
}

TEST_F(Manager, shows_a_response_that_does_not_arrive) {
    for (int copy = 0; copy < 2; ++copy) {
        wait(1 * ms);
        tell(2, Message::ServiceIdResReq, {{0, "00000051"}});
        if (copy == 0)
            tell(1, Message::ServiceIdResReqResp, {{0, "00000051"}});
    }
    EXPECT_EQ(causes(), R"(
cm-no-answer likely, fatal
  192.0.2.2 → 192.0.2.1
  ServiceIDResReq was sent 2 times although a response was captured: the response does not reach the requester.
  frame 1: CM ServiceIDResReq
  frame 2: CM ServiceIDResReqResp  status 0: Valid QPN
  frame 3: CM ServiceIDResReq
)");
}

TEST_F(Manager, takes_a_disconnect_reply_for_a_response) {
    ask_again();
    EXPECT_EQ(answered(), "cm-no-answer certain");
    manage(1, Message::DisconnectReply, servers, clients);
    EXPECT_EQ(answered(), "none");
}

TEST_F(Manager, ignores_disconnect_requests_without_response) {
    for (int copy = 0; copy < 2; ++copy)
        manage(2, Message::DisconnectRequest, clients, servers);
    EXPECT_EQ(answered(), "none");
}

TEST_F(Manager, shows_what_a_service_says_of_its_rejection) {
    // Port 4420 is that of NVMe; responder resources 1, initiator depth 0.
    tell(2, Message::ConnectRequest,
         {{0, "00000051"}, {8, "00000000 0106 1144"}, {32, "000021"}, {35, "01"}, {50, "30"}});
    tell(1, Message::ConnectReject,
         {{0, "00000061"}, {4, "00000051"}, {10, "001c"}, {84, "00000800"}});
    answered();
    EXPECT_EQ(first().text,
              "192.0.2.1 rejected the connection: Consumer Reject (the program refused it): NVMe "
              "reject status 8 (Invalid ORD). The request has initiator depth 0 and responder "
              "resources 1.");
}

}  // namespace explain_test
