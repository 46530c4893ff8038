// Queue pairs that are not the ones meant, and attributes that a port does not allow.
#include "trace/explain/account.hpp"

namespace explain_test {

class Identity : public Account {
  protected:
    void connect_to(std::uint32_t dest_qpn) {
        Pair mine = client();
        mine.dest_qpn = dest_qpn;
        make("client", mine);
        ready("client", mine);
    }
};

TEST_F(Identity, of_a_queue_pair_in_the_other_byte_order) {
    connect_to(0x11000000);
    auto made = packet({.from = 2, .to = 1, .qpn = 0}, opcode::send_only, 100, 8);
    for (int copy = 0; copy < 4; ++copy) {
        add(made);
        wait(67 * ms);
    }
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(causes(), R"(
wrong-qpn certain, fatal
  client → 192.0.2.1, QP 0x000000
  the client's queue pair 0x000021 is connected to queue pair 0x11000000, which has more than 24 bits: its packets go to 0x000000. In the other byte order it is 0x000011.
  frame 1: RC SEND Only  PSN 0x000064  8 B
  client: dest_qpn 0x11000000
)");
}

TEST_F(Identity, of_a_queue_pair_in_the_other_byte_order_by_the_responders_log) {
    Pair only = server();
    only.qpn = 0x1234;
    make("server", only);
    ready("server", only);
    for (int copy = 0; copy < 4; ++copy) {
        add(packet({.from = 2, .to = 1, .qpn = 0x341200}, opcode::send_only, 100, 8));
        wait(67 * ms);
    }
    EXPECT_EQ(causes(), R"(
wrong-qpn certain, fatal
  192.0.2.2 → server, QP 0x341200
  the server has no queue pair 0x341200. In the other byte order it is 0x001234, which it has.
  frame 1: RC SEND Only  PSN 0x000064  8 B
  server: has queue pair 0x001234
)");
}

TEST_F(Identity, of_a_queue_pair_that_was_destroyed_before) {
    make("server", server());
    log("server", R"("event":"destroyed","what":"qp","qpn":17)");
    Pair current = server();
    current.qpn = 0x12;
    make("server", current);
    ready("server", current);
    connect_to(0x11);
    give_up(100);
    const std::string all = causes();
    EXPECT_TRUE(all.starts_with(R"(
wrong-qpn certain, fatal
  client → server, QP 0x000011
  the server's queue pair 0x000011 was destroyed before; the one that is connected to the client's queue pair 0x000021 is 0x000012.
)")) << all;
}

TEST_F(Identity, of_the_path_mtu_of_the_port) {
    log("server",
        R"("event":"device","device":"rxe0","port":1,"path_mtu":512,"gid_index":1,"gid":")" +
            gid(1) + '"');
    connect();
    for (int copy = 0; copy < 4; ++copy) {
        add(flow_test::read(to_server, 100, 3000));
        nak(100, syndrome::rnr);
        wait(ms);
    }
    completes("RNR_RETRY_EXC_ERR");
    const std::string all = causes();
    EXPECT_TRUE(all.starts_with(R"(
path-mtu-mismatch certain, fatal
  client → server, QP 0x000011
  the server's queue pair 0x000011 has path MTU 1024, but its port allows only 512: it cannot send packets of that size.
)")) << all;
}

// All requests completed with SUCCESS: they did not fail.
TEST_F(Identity, of_both_ends_is_not_examined_if_all_requests_completed) {
    Pair other = server();
    other.path_mtu = 512;
    connect(client(), other);
    posts_send(100, 8);
    send(100);
    wait(100 * ms);
    send(100);
    ack(100);
    completes("SUCCESS");
    last_ = explained();
    for (const explain::Cause& cause : last_.causes)
        EXPECT_FALSE(cause.is_fatal) << cause.text;
    EXPECT_EQ(causes().find("path-mtu-mismatch"), std::string::npos);
    EXPECT_FALSE(last_.has_failed);
}

// It takes no receive. A capture may end behind one or two.
class RefusedRead : public Identity, public testing::WithParamInterface<int> {};

TEST_P(RefusedRead, with_three_rnr_naks_has_failed) {
    for (int copy = 0; copy < GetParam(); ++copy) {
        add(flow_test::read(to_server, 100, 3000));
        nak(100, syndrome::rnr);
        wait(ms);
    }
    EXPECT_EQ(answered(), "large-packets-lost likely");
    EXPECT_EQ(first().is_fatal, GetParam() >= 3);
}

INSTANTIATE_TEST_SUITE_P(Naks, RefusedRead, testing::Values(2, 3, 4));

TEST_F(Identity, of_a_message_that_was_cut_in_the_middle) {
    connect();
    send(100);
    ack(100);
    log("client",
        R"("event":"post_send","qpn":33,"wr_id":1,"opcode":"SEND","len":2000,"psn_first":101,"psn_last":102)");
    add(packet(to_server, opcode::send_first, 101, 1024));
    wait(2000 * ms);
    log("client", R"("event":"process_end")");
    EXPECT_EQ(answered(), "path-broken likely");
    EXPECT_NE(first().text.find("in the middle"), std::string::npos);
}

}  // namespace explain_test
