// Datagrams that their receiver drops.
#include "trace/explain/account.hpp"
#include "wire/encapsulations.hpp"

namespace explain_test {

class Datagram : public Account {
  protected:
    std::uint64_t sends(std::uint32_t qpn = 0x11) {
        return add(datagram({.from = 2, .to = 1, .qpn = qpn}, 0x21, 1));
    }
    std::uint64_t sends_number(std::uint32_t psn) {
        return add(datagram({.from = 2, .to = 1, .qpn = 0x11}, 0x21, psn));
    }
    // An ICMP error of 10.9.0.2 that quotes a datagram.
    std::uint64_t reports(std::string_view icmp) {
        const auto quoted = wire::encode(datagram({.from = 2, .to = 1, .qpn = 0x11}, 0x21, 1));
        return add(wire_test::in_ethernet_ipv4(
            1, wire_test::joined(icmp, util::Bytes(quoted).subspan(wire::Ethernet::size, 28))));
    }
};

TEST_F(Datagram, to_a_queue_pair_that_the_receiver_does_not_have) {
    make_datagram_pair("server", 1, 0x11);
    sends(0x12);
    EXPECT_EQ(causes(), R"(
wrong-qpn certain, fatal
  192.0.2.2 → server, QP 0x000012
  the server has no queue pair 0x000012.
  frame 1: UD SEND Only  PSN 0x000001  8 B
)");
}

TEST_F(Datagram, to_a_queue_pair_that_a_log_with_missing_events_lacks) {
    make_datagram_pair("server", 1, 0x11);
    log("server", R"("event":"dropped","records":12)");
    sends(0x12);
    EXPECT_EQ(answered(), "none");
}

TEST_F(Datagram, to_a_receiver_without_a_log) {
    sends();
    EXPECT_EQ(answered(), "none");
}

TEST_F(Datagram, that_was_posted_and_not_captured_shows_no_wrong_queue_pair) {
    make_datagram_pair("server", 1, 0x11);
    make_datagram_pair("client", 2, 0x21);
    posts("SEND", 8, R"(,"dest_qpn":18)");
    EXPECT_EQ(answered(), "none");
}

TEST_F(Datagram, to_a_multicast_group_has_no_queue_pair) {
    make_datagram_pair("server", 1, 0x11);
    sends(0xffffff);
    EXPECT_EQ(answered(), "none");
}

TEST_F(Datagram, with_another_q_key) {
    make_datagram_pair("server", 1, 0x11, R"(,"q_key":286331154)");
    sends();
    sends();
    EXPECT_EQ(causes(), R"(
wrong-qkey certain, fatal
  192.0.2.2 → server, QP 0x000011
  the datagrams have Q_Key 0x11111111, but the server's queue pair 0x000011 has 0x11111112: it drops them.
  frame 1: UD SEND Only  PSN 0x000001  8 B
  server: q_key 0x11111112
)");
}

TEST_F(Datagram, with_the_q_key_of_its_receiver) {
    make_datagram_pair("server", 1, 0x11);
    sends();
    EXPECT_EQ(answered(), "none");
}

TEST_F(Datagram, with_a_q_key_that_cannot_be_compared) {
    make_datagram_pair("server", 1, 0x11, "");
    sends();
    EXPECT_EQ(answered(), "none");
}

TEST_F(Datagram, to_a_host_without_roce) {
    sends();
    reports("0303 0000 00000000");
    EXPECT_EQ(causes(), R"(
wrong-gid certain, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  10.9.0.2 has no RoCE device: it reports that UDP port 4791 is unreachable.
  frame 1: UD SEND Only  PSN 0x000001  8 B
  frame 2: ICMP port unreachable, about 192.0.2.2 → 192.0.2.1 UDP 49443 → 4791
)");
}

TEST_F(Datagram, that_a_router_dropped_before_the_receiver_responded) {
    sends();
    reports("0301 0000 00000000");
    add(datagram({.from = 1, .to = 2, .qpn = 0x21}, 0x11, 1));
    EXPECT_EQ(answered(), "path-broken certain");
    EXPECT_FALSE(first().is_fatal);
}

TEST_F(Datagram, that_was_sent_after_the_report_about_another_one) {
    reports("0303 0000 00000000");
    sends();
    EXPECT_EQ(answered(), "none");
}

TEST_F(Datagram, to_a_queue_pair_that_is_not_ready) {
    log("server", R"("event":"device","device":"rxe0","gid_index":1,"gid":")" + gid(1) + '"');
    log("server", R"("event":"qp","type":"UD","qpn":17,"send_cq":1,"recv_cq":1)");
    log("server", R"("event":"qp_state","state":"INIT","qpn":17,"q_key":286331153)");
    sends();
    EXPECT_EQ(causes(), R"(
peer-not-ready certain, fatal
  192.0.2.2 → server, QP 0x000011
  the server's queue pair 0x000011 never reached RTR: its state is INIT. It drops datagrams.
  frame 1: UD SEND Only  PSN 0x000001  8 B
  server: state INIT
)");
}

// The GRH of 40 bytes comes before the payload of 8.
TEST_F(Datagram, that_is_larger_than_the_receives) {
    make_datagram_pair("server", 1, 0x11);
    server_posts_receive(47);
    sends();
    EXPECT_EQ(causes(), R"(
receive-too-small certain, fatal
  192.0.2.2 → server, QP 0x000011
  a datagram of 8 bytes takes 48 of a receive, with the 40 of the GRH before it, and no receive of the server's queue pair 0x000011 has more than 47: it drops the datagram.
  frame 1: UD SEND Only  PSN 0x000001  8 B
)");
}

TEST_F(Datagram, that_fits_into_a_receive) {
    make_datagram_pair("server", 1, 0x11);
    server_posts_receive(47);
    server_posts_receive(48);
    sends();
    EXPECT_EQ(answered(), "none");
}

TEST_F(Datagram, without_a_receive) {
    make_datagram_pair("server", 1, 0x11);
    server_posts_receive(48);
    sends_number(1);
    receive_completes("SUCCESS");
    sends_number(2);
    EXPECT_EQ(causes(), R"(
receiver-not-ready certain
  192.0.2.2 → server, QP 0x000011
  the server's queue pair 0x000011 was sent 2 datagrams, and its program posted 1 receive in all: it drops the others.
  frame 1: UD SEND Only  PSN 0x000001  8 B
  server: 1 receive posted, 1 completed
)");
}

TEST_F(Datagram, without_any_receive) {
    make_datagram_pair("server", 1, 0x11);
    log("server", R"("event":"post_send","qpn":17,"wr_id":1,"opcode":"SEND","len":8)");
    sends();
    EXPECT_EQ(answered(), "receiver-not-ready certain");
    EXPECT_TRUE(first().is_fatal);
}

TEST_F(Datagram, that_the_capture_has_twice) {
    make_datagram_pair("server", 1, 0x11);
    server_posts_receive(48);
    sends();
    sends();
    EXPECT_EQ(answered(), "none");
}

TEST_F(Datagram, after_the_queue_pair_was_destroyed_needs_no_receive) {
    make_datagram_pair("server", 1, 0x11);
    server_posts_receive(48);
    sends_number(1);
    log("server", R"("event":"destroyed","what":"qp","qpn":17)");
    sends_number(2);
    EXPECT_EQ(answered(), "none");
}

TEST_F(Datagram, to_a_shared_receive_queue) {
    log("server", R"("event":"device","device":"rxe0","gid_index":1,"gid":")" + gid(1) + '"');
    log("server", R"("event":"qp","type":"UD","qpn":17,"send_cq":1,"recv_cq":1,"srq":3)");
    log("server", R"("event":"qp_state","state":"RTR","qpn":17,"q_key":286331153)");
    log("server", R"("event":"post_send","qpn":17,"wr_id":1,"opcode":"SEND","len":8)");
    sends();
    EXPECT_EQ(answered(), "none");
}

TEST_F(Datagram, that_arrived_before_the_first_receive) {
    make_datagram_pair("server", 1, 0x11);
    sends_number(1);
    wait(5 * ms);
    server_posts_receive(48);
    server_posts_receive(48);
    EXPECT_EQ(answered(), "none");  // the clocks of capture and log may differ
    capture_at_server();
    EXPECT_EQ(causes(), R"(
receiver-not-ready certain, fatal
  192.0.2.2 → server, QP 0x000011
  1 datagram for the server's queue pair 0x000011 arrived before its program posted the first receive: it drops such datagrams.
  frame 1: UD SEND Only  PSN 0x000001  8 B
  server: 2 receives posted, 0 completed
)");
}

TEST_F(Datagram, is_the_only_kind_of_packet_that_is_examined) {
    make_datagram_pair("server", 1, 0x11);
    add(packet(to_server, opcode::send_only, 100, 8));
    ack(100);
    EXPECT_EQ(answered(), "none");
}

// {host of the address handle, queue pair, expected}
using Handle = std::tuple<int, std::uint32_t, const char*>;
class DatagramTo : public Datagram, public testing::WithParamInterface<Handle> {};

TEST_P(DatagramTo, the_address_of_a_handle) {
    const auto& [host, qpn, expected] = GetParam();
    make_datagram_pair("server", 1, 0x11);
    make_datagram_pair("client", 2, 0x21);
    log("client",
        R"("event":"ah","address":77,"port":1,"gid_index":1,"dest_gid":")" + gid(host) + '"');
    posts("SEND", 8, fmt::format(R"(,"dest_qpn":{},"q_key":286331153,"ah":77)", qpn));
    EXPECT_EQ(answered(), expected);
}

INSTANTIATE_TEST_SUITE_P(All, DatagramTo,
                         testing::Values(Handle(2, 0x11, "wrong-gid certain"),
                                         Handle(2, 0x12, "wrong-gid likely"),
                                         Handle(2, 0x21, "none"), Handle(1, 0x11, "none"),
                                         Handle(3, 0x11, "none")));

TEST_F(Datagram, in_another_partition_without_a_reply) {
    auto made = datagram({.from = 2, .to = 1, .qpn = 0x11}, 0x21, 1);
    made.bth->p_key = 0x8005;
    add(made);
    EXPECT_EQ(causes(), R"(
wrong-pkey likely, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  the requests have P_Key 0x8005, but the default partition is 0xffff.
  frame 1: UD SEND Only  PSN 0x000001  8 B
)");
}

TEST_F(Datagram, in_another_partition_with_a_reply) {
    for (const auto& way :
         {Way{.from = 2, .to = 1, .qpn = 0x11}, Way{.from = 1, .to = 2, .qpn = 0x21}}) {
        auto made = datagram(way, way.from == 2 ? 0x21 : 0x11, 1);
        made.bth->p_key = 0x8005;
        add(made);
    }
    EXPECT_EQ(answered(), "none");
}

}  // namespace explain_test
