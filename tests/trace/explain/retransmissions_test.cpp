// Retransmissions that have no cause, and timers that run on.
#include "trace/explain/account.hpp"

namespace explain_test {

class RetransmissionAlone : public Account {
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

TEST_F(RetransmissionAlone, is_listed_by_the_time_that_it_took) {
    connect();
    answered_late(100, 40 * ms);
    server_sends(500);
    wait(50 * ms - 1000);
    server_sends(500);
    add(answer(to_server, 500));
    add(answer(to_server, 500));
    EXPECT_EQ(answered(), "none");
    EXPECT_EQ(retransmissions(), R"(server → client, QP 0x000021: 1 packet, 50000 us; frames 5 7 6
client → server, QP 0x000011: 1 packet, 40000 us; frames 1 3 2
)");
}

TEST_F(RetransmissionAlone, has_no_cause_at_its_queue_pair) {
    connect();
    answered_late(100, 40 * ms);
    answered_late(101, 40 * ms);
    EXPECT_EQ(answered(), "needless-retransmissions likely");
    EXPECT_EQ(retransmissions(), "");
}

TEST_F(RetransmissionAlone, is_no_copy_of_the_path) {
    connect();
    send(100);
    send(100);
    ack(100);
    EXPECT_EQ(answered(), "none");
    EXPECT_EQ(retransmissions(), "");
}

// {nanoseconds from an earlier request to the retransmission, which comes 5 ms after its first copy; whether the
// ACK timeout is known; whether a timer that ran on explains it}. The timeout is 67.1 ms.
class EarlierTimer : public RetransmissionAlone,
                     public testing::WithParamInterface<std::tuple<std::int64_t, bool, bool>> {};

TEST_P(EarlierTimer, ran_on) {
    const auto& [distance, is_known, is_timer] = GetParam();
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
    EXPECT_EQ(answered(), "none");
    const std::string where = is_known ? "client → server" : "192.0.2.2 → 192.0.2.1";
    EXPECT_EQ(retransmissions(),
              where + ", QP 0x000011: 1 packet, " +
                  (is_timer ? "running timers; frames 1 3 4 5\n" : "5000 us; frames 3 4 5\n"));
}

INSTANTIATE_TEST_SUITE_P(All, EarlierTimer,
                         testing::Values(std::tuple(58'720'255, true, false),
                                         std::tuple(58'720'256, true, true),
                                         std::tuple(87'108'864, true, true),
                                         std::tuple(87'108'865, true, false),
                                         std::tuple(67 * ms, false, true)));

// Also one that comes just after its first copy.
TEST_F(RetransmissionAlone, by_timers_that_ran_on_are_counted) {
    connect();
    for (std::uint32_t psn = 100; psn < 104; psn += 2) {
        send(psn);
        ack(psn);
        wait(67 * ms);
        send(psn + 1);
        if (psn == 100)
            wait(1 * ms);
        send(psn + 1);
        ack(psn + 1);
        ack(psn + 1);
        wait(200 * ms);
    }
    EXPECT_EQ(answered(), "none");
    EXPECT_EQ(retransmissions(),
              "client → server, QP 0x000011: 2 packets, running timers; frames 1 3 5 4\n");
}

TEST_F(RetransmissionAlone, has_another_reason_than_a_timer_that_ran_on) {
    connect();
    send(100);
    ack(100);
    wait(60 * ms);
    send(101);
    send(102);
    nak(101, syndrome::psn_error);
    wait(3 * ms);
    send(101);
    send(102);
    ack(102);
    EXPECT_EQ(answered(), "loss likely");
}

}  // namespace explain_test
