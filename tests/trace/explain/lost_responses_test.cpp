// Responses that are lost, and requests that are lost while others are retransmitted.
#include "trace/explain/account.hpp"

namespace explain_test {

class LostResponses : public Account {
  protected:
    /// A READ of two packets whose second response is lost before the capture.
    void reads_twice(std::uint32_t psn) {
        add(read(to_server, psn, 1500));
        add(packet(to_client, opcode::read_first, psn, 1024));
        wait(67 * ms);
        auto rest = read(to_server, psn + 1, 476);
        rest.reth->va += 1024;
        add(rest);
        add(packet(to_client, opcode::read_only, psn + 1, 476));
    }
};

TEST_F(LostResponses, are_from_the_responder) {
    connect();
    reads_twice(100);
    EXPECT_EQ(causes(), R"(
loss likely, 67002 us
  client → server, QP 0x000011
  responses from the server were lost once, and 1 packet was retransmitted.
  frame 1: RC RDMA READ Request  PSN 0x000064  va 0x1000 rkey 0x00000077, 1500 B
  frame 3: RC RDMA READ Request  PSN 0x000065  va 0x1400 rkey 0x00000077, 476 B  (again)
)");
}

// The requester asks again for all of it, and the capture has all of it: it may be late.
TEST_F(LostResponses, that_the_capture_has_are_late_or_lost) {
    connect();
    for (const std::uint32_t psn : {100U, 102U})
        for (int copy = 0; copy < 2; ++copy) {
            add(read(to_server, psn, 1500));
            add(packet(to_client, opcode::read_first, psn, 1024));
            add(packet(to_client, opcode::read_last, psn + 1, 476));
            wait(67 * ms);
        }
    for (std::uint32_t psn = 104; psn < 107; ++psn) {
        send(psn);
        ack(psn);
    }
    EXPECT_EQ(causes(), R"(
needless-retransmissions possible, 134006 us
  client → server, QP 0x000011
  requests were retransmitted 2 times, although the capture has the response: it reached the requester too late, or not at all.
  frame 1: RC RDMA READ Request  PSN 0x000064  va 0x1000 rkey 0x00000077, 1500 B
  frame 2: RC RDMA READ response First  PSN 0x000064  ACK, 0 credits  1024 B
  frame 4: RC RDMA READ Request  PSN 0x000064  va 0x1000 rkey 0x00000077, 1500 B  (again after 67.00 ms; timeout 14 is 67.11 ms)
)");
}

TEST_F(LostResponses, are_counted_with_lost_requests) {
    connect();
    reads_twice(100);
    send(103);
    nak(102, syndrome::psn_error);
    send(102);
    send(103);
    ack(103);
    EXPECT_EQ(answered(), "loss likely");
    EXPECT_EQ(first().text,
              "packets were lost 2 times, 1 of them responses from the server, and 3 packets were "
              "retransmitted.");
}

// The packet 103 is new, and lost, when the requester goes back to 101 because of a NAK from before.
TEST_F(LostResponses, of_packets_in_a_retransmission_are_no_reordering) {
    connect();
    send(100);
    ack(100);
    send(102);
    nak(101, syndrome::psn_error);
    send(104);
    for (std::uint32_t psn = 101; psn < 105; ++psn)
        send(psn);
    ack(104);
    EXPECT_EQ(answered(), "loss likely");
    EXPECT_EQ(first().text, "packets were lost 2 times, and 4 packets were retransmitted.");
}

}  // namespace explain_test
