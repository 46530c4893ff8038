// Packets that have no response because they are larger than those that have one.
#include "trace/explain/account.hpp"

namespace explain_test {

class Large : public Account {};

TEST_F(Large, packet_to_a_host_that_still_sends) {
    send(100, 64);
    ack(100);
    repeat(101, 3, 257);
    add(packet({.from = 1, .to = 3, .qpn = 0x55}, opcode::send_only, 7, 8));
    EXPECT_EQ(causes(), R"(
large-packets-lost likely, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  requests with less payload were acknowledged before, and none of the copies of this one, which has 257 bytes.
  frame 3: RC SEND Only  PSN 0x000065  257 B
  frame 5: RC SEND Only  PSN 0x000065  257 B  (copy 3)
  frame 2: RC Acknowledge  PSN 0x000064  ACK, no flow control by credits
)");
}

TEST_F(Large, packet_to_a_host_that_is_silent) {
    send(100, 64);
    ack(100);
    repeat(101, 3, 257);
    EXPECT_EQ(answered(), "large-packets-lost possible");
}

TEST_F(Large, packet_that_fits_every_path_mtu) {
    send(100, 64);
    ack(100);
    repeat(101, 3, 256);
    EXPECT_EQ(answered(), "peer-gone possible");
}

TEST_F(Large, packet_of_a_size_that_had_a_response) {
    send(100, 300);
    ack(100);
    repeat(101, 3, 300);
    EXPECT_EQ(answered(), "peer-gone possible");
}

TEST_F(Large, packet_a_byte_larger_than_one_that_had_a_response) {
    send(100, 299);
    ack(100);
    repeat(101, 3, 300);
    EXPECT_EQ(answered(), "large-packets-lost possible");
}

// Not by the size of a packet that was not acknowledged either.
TEST_F(Large, packets_of_which_none_had_a_response) {
    send(100, 64);
    ack(100);
    for (int copy = 0; copy < 3; ++copy) {
        send(101, 300);
        send(102, 400);
        wait(67 * ms);
    }
    EXPECT_EQ(answered(), "large-packets-lost possible");
}

// {payload of the READ response before, copies of the last READ, expected}
struct LargestResponse {
    std::size_t before;
    int copies;
    const char* cause;
};
class LargeResponse : public Large, public testing::WithParamInterface<LargestResponse> {
  protected:
    void reads(std::uint32_t psn, std::uint32_t length) { add(read(to_server, psn, length)); }
    void responds(std::uint32_t psn, std::size_t length) {
        auto made = packet(to_client, opcode::read_only, psn, length);
        made.aeth = wire::Aeth{.syndrome = syndrome::ack, .msn = 0};
        add(made);
    }
};

TEST_P(LargeResponse, of_a_read_does_not_arrive) {
    const LargestResponse& row = GetParam();
    for (std::uint32_t psn = 100; psn < 103; ++psn) {
        reads(psn, static_cast<std::uint32_t>(row.before));
        responds(psn, row.before);
    }
    for (int copy = 0; copy < row.copies; ++copy) {
        reads(103, 1024);
        responds(103, 1024);
        wait(67 * ms);
    }
    EXPECT_EQ(answered(), row.cause);
}

INSTANTIATE_TEST_SUITE_P(All, LargeResponse,
                         testing::Values(LargestResponse{1023, 8, "large-packets-lost likely"},
                                         LargestResponse{1023, 3, "large-packets-lost likely"},
                                         LargestResponse{1024, 8, "acks-lost likely"},
                                         LargestResponse{1023, 1, "none"}));

}  // namespace explain_test
