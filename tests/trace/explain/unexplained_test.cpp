// Retransmissions that have no cause, and timers that run on.
#include "trace/explain/account.hpp"

namespace explain_test {

class UnexplainedRetransmission : public Account {
  protected:
    void answered_late(std::uint32_t psn, std::int64_t ns) {
        send(psn);
        wait(ns - 1000);
        send(psn);
        ack(psn);
        ack(psn);
    }
    /// A request of the server.
    void server_sends(std::uint32_t psn) {
        auto made = packet(to_client, opcode::send_only, psn, 8);
        made.bth->a = true;
        add(made);
    }
};

TEST_F(UnexplainedRetransmission, is_listed_by_the_time_that_it_took) {
    connect();
    answered_late(100, 40 * ms);
    server_sends(500);
    wait(50 * ms - 1000);
    server_sends(500);
    add(answer(to_server, 500));
    add(answer(to_server, 500));
    EXPECT_EQ(answered(), "none");
    EXPECT_EQ(unexplained(), R"(server → client, QP 0x000021: 1 packet, 50000 us; frames 5 7 6
client → server, QP 0x000011: 1 packet, 40000 us; frames 1 3 2
)");
}

TEST_F(UnexplainedRetransmission, has_no_cause_at_its_queue_pair) {
    connect();
    answered_late(100, 40 * ms);
    answered_late(101, 40 * ms);
    EXPECT_EQ(answered(), "needless-retransmissions likely");
    EXPECT_EQ(unexplained(), "");
}

TEST_F(UnexplainedRetransmission, is_no_copy_of_the_path) {
    connect();
    send(100);
    send(100);
    ack(100);
    EXPECT_EQ(answered(), "none");
    EXPECT_EQ(unexplained(), "");
}

// {nanoseconds from an earlier request to the retransmission, 5 ms after the first copy; whether the ACK timeout
// is known; expected}. The timeout is 67.1 ms.
class EarlierTimer
    : public UnexplainedRetransmission,
      public testing::WithParamInterface<std::tuple<std::int64_t, bool, std::string>> {};

TEST_P(EarlierTimer, was_started_by_an_earlier_request) {
    const auto& [distance, is_known, expected] = GetParam();
    if (is_known)
        connect();
    send(100);
    ack(100);
    wait(distance - 5 * ms - 2000);
    send(101);
    ack(101);
    wait(5 * ms - 2000);
    send(101);
    ack(101);
    EXPECT_EQ(answered(), expected);
    if (expected == "none") {
        EXPECT_EQ(unexplained(), "client → server, QP 0x000011: 1 packet, 5000 us; frames 3 4 5\n");
    } else if (is_known) {
        EXPECT_TRUE(
            first().text.starts_with("a request was retransmitted 5.00 ms after its first "
                                     "copy, and the capture has its response: a timer"))
            << first().text;
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, EarlierTimer,
    testing::Values(std::tuple(58'720'255, true, "none"),
                    std::tuple(58'720'256, true, "needless-retransmissions possible"),
                    std::tuple(87'108'864, true, "needless-retransmissions possible"),
                    std::tuple(87'108'865, true, "none"),
                    std::tuple(67 * ms, false, "needless-retransmissions possible")));

TEST_F(UnexplainedRetransmission, by_running_timers_is_counted) {
    connect();
    for (std::uint32_t psn = 100; psn < 104; psn += 2) {
        send(psn);
        ack(psn);
        wait(67 * ms);
        send(psn + 1);
        ack(psn + 1);
        wait(1 * ms);
        send(psn + 1);
        ack(psn + 1);
        wait(200 * ms);
    }
    EXPECT_EQ(causes(), R"(
needless-retransmissions possible
  client → server, QP 0x000011
  a request was retransmitted 1.00 ms after its first copy, and the capture has its response: a timer had been running since an earlier request, as Soft-RoCE does not start it again with each request (in all, 2 times).
  frame 1: RC SEND Only  PSN 0x000064  8 B
  frame 3: RC SEND Only  PSN 0x000065  8 B
  frame 4: RC Acknowledge  PSN 0x000065  ACK, no flow control by credits
  frame 5: RC SEND Only  PSN 0x000065  8 B  (again after 1.00 ms; timeout 14 is 67.11 ms)
)");
}

}  // namespace explain_test
