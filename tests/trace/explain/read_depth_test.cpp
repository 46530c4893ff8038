// READs and atomics that a responder refuses: more are outstanding than it accepts.
#include "trace/explain/account.hpp"

namespace explain_test {

class ReadDepth : public Account {
  protected:
    static constexpr std::uint8_t invalid = 0x61;

    void reads(std::uint32_t first, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i)
            add(read(to_server, first + i, 8));
    }
    void connect_with(std::uint32_t depth) {
        Pair limited = server();
        limited.max_dest_rd_atomic = depth;
        connect(client(), limited);
    }
    /// Messages of the connection manager in which the server accepts `resources` READs.
    void accept(std::string_view resources, std::string_view qpn = "000011", int from = 1) {
        tell(from, wire::CmAttribute::ConnectReply,
             {{0, "00000061"}, {4, "00000051"}, {12, qpn}, {20, "0001f4"}, {24, resources}});
    }
};

TEST_F(ReadDepth, of_the_responder_is_exceeded) {
    connect_with(2);
    log("client", R"("event":"qp_state","qpn":33,"state":"RTS","max_rd_atomic":4)");
    reads(100, 3);
    nak(102, invalid);
    EXPECT_EQ(causes(), R"(
read-depth certain, fatal
  client → server, QP 0x000011
  the server's queue pair 0x000011 accepts 2 READs and atomics at a time, and 3 were outstanding.
  frame 3: RC RDMA READ Request  PSN 0x000066  va 0x1000 rkey 0x00000077, 8 B
  frame 4: RC Acknowledge  PSN 0x000066  NAK: Invalid Request
  server: max_dest_rd_atomic 2
  client: max_rd_atomic 4
)");
}

TEST_F(ReadDepth, of_the_responder_is_not_exceeded) {
    connect_with(2);
    reads(100, 2);
    nak(101, invalid);
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(ReadDepth, of_zero_is_exceeded_by_one_read_that_only_the_log_has) {
    connect_with(0);
    posts("RDMA_READ", 8);
    completes("REM_INV_REQ_ERR");
    EXPECT_EQ(causes(), R"(
read-depth certain, fatal
  client → server, QP 0x000011
  the server's queue pair 0x000011 accepts 0 READs and atomics at a time, and 1 were outstanding.
  client log: post_send  wr 1 RDMA_READ 8 B
  client log: wc  wr 1 REM_INV_REQ_ERR
  server: max_dest_rd_atomic 0
)");
}

TEST_F(ReadDepth, counts_neither_answered_reads_nor_other_requests) {
    connect_with(2);
    reads(100, 2);
    add(packet(to_client, opcode::read_only, 100, 8));
    write(102, 0x1000, 1, 8);
    reads(103, 1);
    nak(103, invalid);
    reads(104, 2);
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(ReadDepth, counts_atomics) {
    connect_with(1);
    for (const std::uint32_t psn : {100U, 101U}) {
        auto made = packet(to_server, opcode::fetch_add, psn);
        made.atomic_eth = wire::AtomicEth{.va = 0x1000, .rkey = 1, .swapdt = 1, .cmpdt = 0};
        add(made);
    }
    nak(101, invalid);
    EXPECT_EQ(causes(), R"(
read-depth certain, fatal
  client → server, QP 0x000011
  the server's queue pair 0x000011 accepts 1 READs and atomics at a time, and 2 were outstanding.
  frame 2: RC FetchAdd  PSN 0x000065  va 0x1000 rkey 0x00000001, 8 B
  frame 3: RC Acknowledge  PSN 0x000065  NAK: Invalid Request
  server: max_dest_rd_atomic 1
)");
}

TEST_F(ReadDepth, of_a_connect_reply_is_exceeded) {
    accept("02");
    reads(100, 3);
    nak(102, invalid);
    EXPECT_EQ(causes(), R"(
read-depth certain, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  the responder accepts 2 READs and atomics at a time (responder resources), and 3 were outstanding.
  frame 4: RC RDMA READ Request  PSN 0x000066  va 0x1000 rkey 0x00000077, 8 B
  frame 5: RC Acknowledge  PSN 0x000066  NAK: Invalid Request
  frame 1: CM ConnectReply
)");
}

// {READs accepted, queue pair, host}
class ReadDepthTold
    : public ReadDepth,
      public testing::WithParamInterface<std::tuple<const char*, const char*, int>> {};

TEST_P(ReadDepthTold, by_another_message_is_only_a_guess) {
    const auto& [resources, qpn, host] = GetParam();
    accept(resources, qpn, host);
    reads(100, 3);
    nak(102, invalid);
    EXPECT_EQ(answered(), "read-depth possible");
}

INSTANTIATE_TEST_SUITE_P(All, ReadDepthTold,
                         testing::Values(std::tuple("03", "000011", 1),
                                         std::tuple("02", "000012", 1),
                                         std::tuple("02", "000011", 2)));

TEST_F(ReadDepth, is_unknown_without_logs) {
    reads(100, 2);
    nak(101, invalid);
    EXPECT_EQ(causes(), R"(
read-depth possible, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  2 READs and atomics were outstanding: probably more than the responder accepts (max_dest_rd_atomic).
  frame 2: RC RDMA READ Request  PSN 0x000065  va 0x1000 rkey 0x00000077, 8 B
  frame 3: RC Acknowledge  PSN 0x000065  NAK: Invalid Request
)");
}

TEST_F(ReadDepth, is_not_suspected_for_one_read) {
    reads(100, 1);
    nak(100, invalid);
    EXPECT_EQ(answered(), "missing-access-right possible");
}

TEST_F(ReadDepth, is_not_suspected_if_the_queue_pair_allows_no_read) {
    Pair writer = server();
    writer.access = "remote_write";
    connect(client(), writer);
    reads(100, 3);
    nak(102, invalid);
    EXPECT_EQ(causes(), R"(
missing-access-right certain, fatal
  client → server, QP 0x000011
  the server's queue pair 0x000011 does not allow remote_read.
  frame 3: RC RDMA READ Request  PSN 0x000066  va 0x1000 rkey 0x00000077, 8 B
  frame 4: RC Acknowledge  PSN 0x000066  NAK: Invalid Request
  server: access of the queue pair: remote_write
)");
}

}  // namespace explain_test
