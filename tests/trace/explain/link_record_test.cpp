// Causes that the log of the link emulator confirms.
#include "trace/explain/link_record_fixture.hpp"

namespace explain_test {

TEST_F(LinkRecord, names_the_rule_that_dropped_the_responses) {
    gives_up_over_responses();
    for (int i = 0; i < 4; ++i)
        acts("drop", "server", "client", 0x21);
    EXPECT_EQ(causes(), R"(
acks-lost certain, fatal
  client → server, QP 0x000011
  the responder acknowledged a request, and the requester retransmitted it until it gave up: the responses do not reach it. Rule 3 of the link emulator, `drop some packets`, did it: 4 packets were dropped.
  client log: post_send  wr 1 SEND 8 B  PSN 0x000064 to 0x000064
  client log: wc  wr 1 RETRY_EXC_ERR
  frame 1: RC SEND Only  PSN 0x000064  8 B
  frame 2: RC Acknowledge  PSN 0x000064  ACK, no flow control by credits
  frame 7: RC SEND Only  PSN 0x000064  8 B
  link log: drop      RC SEND Only PSN 0x000064 to QP 0x000021 of the server, by rule 3
)");
    EXPECT_EQ(first().advice(),
              "Remove the rule (lab/lab wire clear, or rocewire clear), and run again.");
}

struct Other {
    const char* what;
    const char* from;
    const char* to;
    std::uint32_t qpn;
};
class LinkRecordThat : public LinkRecord, public testing::WithParamInterface<Other> {};

TEST_P(LinkRecordThat, does_not_explain_a_cause_leaves_it_likely) {
    gives_up_over_responses();
    acts(GetParam().what, GetParam().from, GetParam().to, GetParam().qpn);
    EXPECT_EQ(answered(), "acks-lost likely");
}

INSTANTIATE_TEST_SUITE_P(All, LinkRecordThat,
                         testing::Values(Other{"drop", "client", "server", 0x11},
                                         Other{"drop", "server", "client", 0x22},
                                         Other{"duplicate", "server", "client", 0x21}));

TEST_F(LinkRecord, of_responses_needs_no_log_of_the_requester) {
    for (explain::Explainer* one : {&explainer_, &forgetful_}) {
        one->place("client", *flow::host_of_gid(gid(2)));
        one->place("server", *flow::host_of_gid(gid(1)));
    }
    for (int copy = 0; copy < 8; ++copy) {
        send(100);
        ack(100);
        acts("drop", "server", "client", 0x21);
        wait(67 * ms);
    }
    EXPECT_EQ(answered(), "acks-lost certain");
}

TEST_F(LinkRecord, counts_both_directions_of_a_rule) {
    connect();
    send(100);
    ack(100);
    send(103);
    nak(101, syndrome::psn_error);
    for (std::uint32_t psn = 101; psn < 104; ++psn)
        send(psn);
    ack(103);
    acts("drop", "client", "server", 0x11);
    acts("drop", "server", "client", 0x21);
    EXPECT_EQ(answered(), "loss certain");
    EXPECT_NE(first().text.find("`drop some packets`, did it: 2 packets were dropped."),
              std::string::npos)
        << first().text;
}

// Nothing shows the loss but the rule, which has lost two.
TEST_F(LinkRecord, counts_both_directions_of_a_loss_that_only_it_shows) {
    connect();
    send(100);
    wait(40 * ms);
    send(100);
    ack(100);
    ack(100);
    EXPECT_EQ(answered(), "none");
    acts("drop", "client", "server", 0x11);
    acts("drop", "server", "client", 0x21);
    EXPECT_EQ(causes(), R"(
loss likely
  client → server, QP 0x000011
  Packets were lost, and requests were retransmitted. Rule 3 of the link emulator, `drop some packets`, did it: 2 packets were dropped.
  frame 2: RC SEND Only  PSN 0x000064  8 B
  link log: drop      RC SEND Only PSN 0x000064 to QP 0x000011 of the client, by rule 3
)");
    EXPECT_TRUE(last_.retransmissions.empty());
}

// {what happened to a response; expected}. Without the rule, the requester may have been late.
class CapturedResponse
    : public LinkRecord,
      public testing::WithParamInterface<std::pair<std::vector<const char*>, const char*>> {};

TEST_P(CapturedResponse, was_lost_if_a_rule_dropped_it) {
    connect();
    for (int copy = 0; copy < 2; ++copy) {
        send(100);
        ack(100);
        wait(67 * ms);
    }
    EXPECT_EQ(answered(), "needless-retransmissions possible");
    for (const char* what : GetParam().first)
        acts(what, "server", "client", 0x21);
    EXPECT_EQ(answered(), GetParam().second);
    if (GetParam().first.size() == 1 && first().code == explain::Code::Loss) {
        EXPECT_TRUE(
            first().text.starts_with("responses from the server were lost, and requests "
                                     "were retransmitted. Rule 3 of the link emulator"))
            << first().text;
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, CapturedResponse,
    testing::Values(std::pair(std::vector{"drop"}, "loss likely"),
                    std::pair(std::vector{"cut"}, "loss likely"),
                    std::pair(std::vector{"delay"}, "needless-retransmissions likely"),
                    std::pair(std::vector{"drop", "delay"}, "needless-retransmissions likely"),
                    std::pair(std::vector{"mark"}, "needless-retransmissions possible")));

TEST_F(LinkRecord, names_the_rule_that_changed_packets) {
    for (const char* what : {"corrupt", "set"}) {
        SCOPED_TRACE(what);
        acts(what, "client", "server", 0x11);
    }
    connect();
    send(100);
    ack(100);
    broken_send(101);
    wait(67 * ms);
    send(101);
    ack(101);
    EXPECT_EQ(answered(), "corruption certain");
    EXPECT_NE(first().text.find("Rule 3 of the link emulator, `corrupt some packets`, did it: 1 "
                                "packet was corrupted."),
              std::string::npos)
        << first().text;
}

// An event about a copy is about a packet that the log already has.
TEST_F(LinkRecord, does_not_count_copies) {
    gives_up_over_responses();
    acts("drop", "server", "client", 0x21);
    acts("drop", "server", "client", 0x21, R"(,"copy":1)");
    answered();
    EXPECT_NE(first().text.find("1 packet was dropped."), std::string::npos) << first().text;
}

TEST_F(LinkRecord, explains_a_failure_that_nothing_else_explains) {
    connect();
    posts_send(100, 8);
    completes("RETRY_EXC_ERR");
    acts("drop", "client", "server", 0x11);
    EXPECT_EQ(causes(), R"(
loss likely, fatal
  client → server, QP 0x000011
  packets of this connection were lost. Rule 3 of the link emulator, `drop some packets`, did it: 1 packet was dropped.
  link log: drop      RC SEND Only PSN 0x000064 to QP 0x000011 of the client, by rule 3
)");
}

TEST_F(LinkRecord, names_a_rule_once_for_datagrams) {
    make_datagram_pair("server", 1, 0x11);
    make_datagram_pair("client", 2, 0x21);
    add(datagram(to_server, 0x21, 100));
    add(datagram(to_client, 0x11, 100));
    ends("client", 1);
    acts("drop", "client", "server", 0x11);
    EXPECT_EQ(answered(), "loss likely");
    EXPECT_EQ(last_.causes.size(), 1U);
}

// {from, to, whether the program waited for an event}
class ManagersPackets
    : public LinkRecord,
      public testing::WithParamInterface<std::tuple<const char*, const char*, bool, const char*>> {
};

TEST_P(ManagersPackets, that_were_lost_are_those_of_the_same_hosts) {
    const auto& [from, to, is_logged, expected] = GetParam();
    connect();
    if (is_logged) {
        log("client", R"("event":"cm_event","type":"UNREACHABLE","status":-110,"id":7)");
    } else {
        manage(2, wire::CmAttribute::ConnectRequest, 0x51, 0, 0, 0x7fff);
        wait(4000 * ms);
        manage(2, wire::CmAttribute::ConnectRequest, 0x51, 0, 0, 0x7fff);
    }
    acts("drop", from, to, 1);
    answered();
    EXPECT_EQ(name(first().code), "cm-no-answer");
    EXPECT_EQ(first().text.find("Rule 3 of the link emulator") != std::string::npos,
              std::string(expected) == "told");
}

INSTANTIATE_TEST_SUITE_P(All, ManagersPackets,
                         testing::Values(std::tuple("client", "server", false, "told"),
                                         std::tuple("server", "client", false, "told"),
                                         std::tuple("client2", "server", false, "not told"),
                                         std::tuple("client", "server2", false, "not told"),
                                         std::tuple("client", "server", true, "told"),
                                         std::tuple("client2", "server", true, "not told")));

TEST_F(LinkRecord, of_a_run_without_a_failure_is_no_cause) {
    connect();
    posts_send(100, 8);
    send(100);
    ack(100);
    completes("SUCCESS");
    acts("delay", "server", "client", 0x21);
    EXPECT_EQ(answered(), "none");
}

}  // namespace explain_test
