// First PSNs of the two ends that differ.
#include "trace/explain/account.hpp"

namespace explain_test {

class FirstPsn : public Account {
  protected:
    void only(std::string_view role, const Pair& pair) {
        make(role, pair);
        ready(role, pair);
    }
    std::uint64_t nak_with_msn(std::uint32_t psn, std::uint32_t msn) {
        auto made = answer(to_client, psn, syndrome::psn_error);
        made.aeth->msn = msn;
        return add(made);
    }
};

TEST_F(FirstPsn, of_both_logs_differs) {
    Pair wrong = server();
    wrong.rq_psn = 90;
    connect(client(), wrong);
    posts_send(100, 8);
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(causes(), R"(
wrong-psn certain, fatal
  client → server, QP 0x000011
  the client begins with PSN 0x000064, but the server expects 0x00005a.
  client: sq_psn 0x000064
  server: rq_psn 0x00005a
)");
}

// Of three bytes, or of the four of a 32-bit value, of which the low 24 bits are left.
struct Swapped {
    std::uint32_t sq_psn, rq_psn;
    bool is_recognized;
};
class ByteOrder : public FirstPsn, public testing::WithParamInterface<Swapped> {};

TEST_P(ByteOrder, of_the_first_psn) {
    const Swapped& row = GetParam();
    Pair mine = client();
    mine.sq_psn = row.sq_psn;
    Pair other = server();
    other.rq_psn = row.rq_psn;
    connect(mine, other);
    posts_send(row.sq_psn, 8);
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "wrong-psn certain");
    EXPECT_EQ(first().text.find("in different byte orders.") != std::string::npos,
              row.is_recognized);
    EXPECT_EQ(first().try_this.find("ntohl") != std::string::npos, row.is_recognized);
}

INSTANTIATE_TEST_SUITE_P(All, ByteOrder,
                         testing::Values(Swapped{0x123456, 0x563412, true},
                                         Swapped{0x123456, 0x341200, true},
                                         Swapped{0x341200, 0x123456, true},
                                         Swapped{0x123456, 0x563413, false},
                                         Swapped{0x000064, 0, false}, Swapped{0, 0x000064, false}));

TEST_F(FirstPsn, of_a_nak_has_the_other_byte_order) {
    send(0x123456);
    nak_with_msn(0x563412, 0);
    send(0x123457);
    send(0x123458);
    EXPECT_EQ(causes(), R"(
wrong-psn likely, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  192.0.2.2 begins with PSN 0x123456, and the first response has 0x563412, which was never sent: the responder expects other PSNs. These are the same number in different byte orders.
  frame 1: RC SEND Only  PSN 0x123456  8 B
  frame 2: RC Acknowledge  PSN 0x563412  NAK: PSN Sequence Error
)");
}

TEST_F(FirstPsn, of_both_logs_is_the_same_whatever_the_packets_show) {
    connect();
    send(100);
    nak(90, syndrome::psn_error);
    repeat(100);
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(FirstPsn, of_the_packets_differs_from_the_responders_log) {
    Pair wrong = server();
    wrong.rq_psn = 90;
    only("server", wrong);
    repeat(100);
    EXPECT_EQ(causes(), R"(
wrong-psn likely, fatal
  192.0.2.2 → server, QP 0x000011
  192.0.2.2 begins with PSN 0x000064, but the server expects 0x00005a.
  frame 1: RC SEND Only  PSN 0x000064  8 B
  server: rq_psn 0x00005a
)");
}

TEST_F(FirstPsn, of_the_packets_is_the_same_as_in_the_responders_log) {
    only("server", server());
    repeat(100);
    EXPECT_EQ(answered(), "unknown");
}

// The message begins before the capture.
TEST_F(FirstPsn, is_unknown_if_the_first_packet_begins_no_message) {
    Pair wrong = server();
    wrong.rq_psn = 90;
    only("server", wrong);
    for (int copy = 0; copy < 3; ++copy) {
        add(packet(to_server, opcode::send_middle, 100, 1024));
        wait(67 * ms);
    }
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(FirstPsn, of_a_responder_that_responded_is_judged_by_its_responses) {
    Pair wrong = server();
    wrong.rq_psn = 90;
    only("server", wrong);
    send(100);
    ack(100);
    repeat(101);
    EXPECT_EQ(answered(), "path-broken likely");
}

TEST_F(FirstPsn, of_the_requesters_log_differs_from_the_response) {
    only("client", client());
    send(100);
    nak(90, syndrome::psn_error);
    send(100);
    EXPECT_EQ(causes(), R"(
wrong-psn certain, fatal
  client → 192.0.2.1, QP 0x000011
  the client begins with PSN 0x000064, and the first response has 0x00005a, which was never sent: the responder expects other PSNs.
  frame 1: RC SEND Only  PSN 0x000064  8 B
  frame 2: RC Acknowledge  PSN 0x00005a  NAK: PSN Sequence Error
  client: sq_psn 0x000064
)");
}

// Without a log, the first captured request may be a later one.
struct Answered {
    std::uint32_t nak;       // the PSN of a NAK for a PSN sequence error
    std::uint32_t msn;       // of the NAK
    std::uint32_t requests;  // after the NAK
    const char* expected;
};
class FirstResponse : public FirstPsn, public testing::WithParamInterface<Answered> {};

TEST_P(FirstResponse, with_a_psn_that_was_never_sent) {
    const Answered& row = GetParam();
    send(5000);
    nak_with_msn(row.nak, row.msn);
    for (std::uint32_t i = 0; i < row.requests; ++i)
        send(5001 + i);
    EXPECT_EQ(answered(), row.expected);
}

INSTANTIATE_TEST_SUITE_P(All, FirstResponse,
                         testing::Values(Answered{4990, 0, 2, "wrong-psn likely"},
                                         Answered{4990, 0, 1, "none"}, Answered{4990, 1, 2, "none"},
                                         Answered{904, 1, 0, "wrong-psn likely"},
                                         Answered{905, 1, 0, "none"},
                                         Answered{5001, 0, 0, "wrong-psn likely"},
                                         Answered{5000, 0, 0, "none"}));

TEST_F(FirstPsn, of_an_answer_says_both) {
    send(5000);
    nak(5001, syndrome::psn_error);
    EXPECT_EQ(causes(), R"(
wrong-psn likely, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  192.0.2.2 begins with PSN 0x001388, and the first response has 0x001389, which was never sent: the responder expects other PSNs.
  frame 1: RC SEND Only  PSN 0x001388  8 B
  frame 2: RC Acknowledge  PSN 0x001389  NAK: PSN Sequence Error
)");
}

TEST_F(FirstPsn, of_a_requester_that_goes_back_to_the_nak_was_right) {
    send(5000);
    nak(4990, syndrome::psn_error);
    send(4990);
    send(4991);
    EXPECT_NE(answered().substr(0, 9), "wrong-psn");
}

TEST_F(FirstPsn, of_an_answer_inside_a_read_is_right) {
    add(read(to_server, 100, 2500));
    add(packet(to_client, opcode::read_middle, 101, 1024));
    nak(102, syndrome::psn_error);
    EXPECT_NE(answered().substr(0, 9), "wrong-psn");
}

TEST_F(FirstPsn, of_an_answer_before_the_first_request_belongs_to_another_one) {
    only("client", client());
    add(packet(to_client, opcode::send_only, 500, 8));
    ack(90);
    send(100);
    nak(100, syndrome::psn_error);
    EXPECT_NE(answered().substr(0, 9), "wrong-psn");
}

// The acknowledgement of an earlier request arrives late.
TEST_F(FirstPsn, of_a_request_that_was_accepted_later_is_right) {
    only("client", client());
    send(100);
    ack(99);
    ack(100);
    repeat(101);
    EXPECT_EQ(answered(), "peer-gone possible");
}

TEST_F(FirstPsn, of_a_request_that_was_not_accepted_later_is_wrong) {
    only("client", client());
    send(100);
    ack(99);
    repeat(100);
    EXPECT_EQ(answered(), "wrong-psn certain");
}

// {MSN of the ACKs, number of copies, expected}. The responder acknowledges duplicates of messages that it never
// got, and the capture may have begun later than the connection.
using Duplicates = std::tuple<std::uint32_t, int, const char*>;
class NeverExecuted : public FirstPsn, public testing::WithParamInterface<Duplicates> {};

TEST_P(NeverExecuted, is_acknowledged_with_a_psn_that_was_never_sent) {
    const auto& [msn, copies, expected] = GetParam();
    for (int copy = 0; copy < copies; ++copy) {
        send(0x123);
        auto made = answer(to_client, 0xffffff);
        made.aeth->msn = msn;
        add(made);
        wait(67 * ms);
    }
    EXPECT_EQ(answered(), expected);
}

INSTANTIATE_TEST_SUITE_P(All, NeverExecuted,
                         testing::Values(Duplicates(0, 3, "wrong-psn likely"),
                                         Duplicates(1, 3, "none"), Duplicates(0, 2, "none")));

// A mirror's two directions may take different times to the capture.
TEST_F(FirstPsn, whose_ack_was_recorded_before_its_request_is_right) {
    send(100);
    ack(102);
    for (const std::uint32_t psn : {101U, 102U})
        send(psn);
    EXPECT_EQ(answered(), "none");
}

TEST_F(FirstPsn, that_is_sent_again_was_not_the_expected_one) {
    send(100);
    ack(102);
    for (const std::uint32_t psn : {101U, 102U})
        send(psn);
    wait(67 * ms);
    send(100);
    EXPECT_EQ(answered(), "wrong-psn likely");
}

// {nanoseconds from the NAK to the first request, expected}
class EarlyNak : public FirstPsn,
                 public testing::WithParamInterface<std::pair<std::int64_t, const char*>> {};

TEST_P(EarlyNak, of_a_first_psn_that_is_known) {
    only("client", client());
    nak(90, syndrome::psn_error);
    wait(GetParam().first);
    send(100);
    for (int copy = 0; copy < 3; ++copy) {
        wait(67 * ms);
        send(100);
    }
    EXPECT_EQ(answered(), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(All, EarlyNak,
                         testing::Values(std::pair(ms, "wrong-psn certain"),
                                         std::pair(20 * ms, "peer-gone possible")));

class AnnouncedFirstPsn : public FirstPsn {
  protected:
    void set_up() {
        add(cm_packet(to_server, connect_request({.comm_id = 7, .qpn = 0x21, .psn = 500}, 3)));
        add(cm_packet(to_client, connect_reply({.comm_id = 8, .qpn = 0x11, .psn = 100}, 7)));
    }
};

TEST_F(AnnouncedFirstPsn, before_the_first_request_is_what_the_responder_expects) {
    set_up();
    send(116);
    nak(100, syndrome::psn_error);
    repeat(116);
    EXPECT_EQ(causes(), R"(
wrong-psn certain, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  192.0.2.2 begins with PSN 0x000074, but the connection manager announced 0x000064: the responder expects that one.
  frame 2: CM ConnectReply  PSN 0x000064
  frame 3: RC SEND Only  PSN 0x000074  8 B
  frame 4: RC Acknowledge  PSN 0x000064  NAK: PSN Sequence Error
)");
}

// Until the requester ignores the NAK, the first requests may be missing in the capture.
TEST_F(AnnouncedFirstPsn, before_the_first_request_may_be_that_of_a_missing_one) {
    set_up();
    send(116);
    nak(100, syndrome::psn_error);
    EXPECT_NE(answered().substr(0, 9), "wrong-psn");
    send(100);
    for (std::uint32_t psn = 101; psn < 117; ++psn)
        send(psn);
    ack(116);
    EXPECT_EQ(answered(), "loss likely");
}

// The requests complete with success, and none was executed.
TEST_F(AnnouncedFirstPsn, behind_the_first_request_makes_it_a_copy_for_the_responder) {
    set_up();
    send(84);
    ack(99);
    send(85);
    ack(99);
    EXPECT_EQ(causes(), R"(
wrong-psn certain, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  192.0.2.2 begins with PSN 0x000054, but the connection manager announced 0x000064: the responder takes the requests before that one for copies of earlier ones, and executes none of them.
  frame 2: CM ConnectReply  PSN 0x000064
  frame 3: RC SEND Only  PSN 0x000054  8 B
)");
}

TEST_F(AnnouncedFirstPsn, behind_the_first_request_is_fatal_although_the_request_completes) {
    Pair wrong = client();
    wrong.sq_psn = 84;
    connect(wrong, server());
    set_up();
    posts_send(84, 8);
    send(84);
    ack(99);
    completes("SUCCESS");
    EXPECT_EQ(answered(), "wrong-psn certain");
    EXPECT_TRUE(first().is_fatal);
    EXPECT_TRUE(last_.has_failed);
}

TEST_F(AnnouncedFirstPsn, that_was_sent_later_is_not_wrong) {
    set_up();
    send(99);
    send(100);
    ack(100);
    EXPECT_NE(answered().substr(0, 9), "wrong-psn");
}

}  // namespace explain_test
