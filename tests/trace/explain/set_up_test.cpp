// Attributes of the two ends that do not fit.
#include "trace/explain/account.hpp"

namespace explain_test {

class ConnectionSetUp : public Account {
  protected:
    std::uint64_t send_with_p_key(std::uint16_t p_key) {
        auto made = packet(to_server, opcode::send_only, 100, 8);
        made.bth->p_key = p_key;
        return add(made);
    }
    void repeat_with_p_key(std::uint16_t p_key, int copies = 3) {
        for (int copy = 0; copy < copies; ++copy) {
            send_with_p_key(p_key);
            wait(67 * ms);
        }
    }
    void only(std::string_view role, const Pair& pair) {
        make(role, pair);
        ready(role, pair);
    }
};

TEST_F(ConnectionSetUp, whose_destination_is_the_requesters_own_address) {
    Pair astray = client();
    astray.dest_gid = gid(2);
    connect(astray);
    posts_send(100, 8);
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(causes(), R"(
wrong-gid certain, fatal
  client → client, QP 0x000011
  the requests go to 192.0.2.2, which is the requester's own address.
  client: destination GID ::ffff:192.0.2.2
)");
}

TEST_F(ConnectionSetUp, of_two_types) {
    Pair unreliable = server();
    unreliable.type = "UC";
    connect(client(), unreliable);
    posts_send(100, 8);
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(causes(), R"(
wrong-qpn certain, fatal
  client → server, QP 0x000011
  the requests are of type RC, and the server's queue pair 0x000011 is of type UC: it drops them.
  client: type RC
  server: type UC
)");
}

// A program may connect two queue pairs of its own.
TEST_F(ConnectionSetUp, whose_destination_is_another_queue_pair_of_the_requester) {
    Pair own = client();
    own.dest_gid = gid(2);
    own.dest_qpn = 0x22;
    Pair other = client();
    other.qpn = 0x22;
    other.dest_qpn = 0x21;
    other.dest_gid = gid(2);
    other.sq_psn = 500;
    other.rq_psn = 100;
    only("client", own);
    only("client", other);
    log("client", R"("event":"post_send","qpn":33,"wr_id":1,"opcode":"SEND","len":8)");
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(ConnectionSetUp, whose_destination_is_no_host_with_a_log) {
    Pair astray = client();
    astray.dest_gid = gid(9);
    connect(astray);
    log("observer", R"("event":"device","device":"rxe0","gid_index":1,"gid":"fe80::7")");
    posts_send(100, 8);
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(causes(), R"(
wrong-gid certain, fatal
  client → server, QP 0x000011
  the requests go to 192.0.2.9, which is not an address of the peer.
  client: destination GID ::ffff:192.0.2.9
  client: the other hosts: server 192.0.2.1, observer fe80::7
)");
}

TEST_F(ConnectionSetUp, whose_destination_cannot_be_checked_without_other_logs) {
    Pair astray = client();
    astray.dest_gid = gid(9);
    only("client", astray);
    posts_send(100, 8);
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(ConnectionSetUp, whose_destination_is_unknown) {
    Pair hidden = client();
    hidden.dest_gid = "";
    connect(hidden);
    posts_send(100, 8);
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(ConnectionSetUp, whose_responder_expects_another_address) {
    Pair astray = server();
    astray.dest_gid = gid(9);
    connect(client(), astray);
    repeat(100);
    EXPECT_EQ(causes(), R"(
wrong-gid certain, fatal
  client → server, QP 0x000011
  the server's queue pair 0x000011 is connected to 192.0.2.9, but the requests come from 192.0.2.2: it drops them.
  frame 1: RC SEND Only  PSN 0x000064  8 B
  server: destination GID ::ffff:192.0.2.9
)");
}

TEST_F(ConnectionSetUp, of_a_connection_that_worked_is_not_examined) {
    Pair astray = server();
    astray.dest_gid = gid(9);
    connect(client(), astray);
    send(100);
    ack(100);
    EXPECT_EQ(answered(), "none");
    repeat(101);
    EXPECT_EQ(answered(), "path-broken likely");
}

TEST_F(ConnectionSetUp, with_a_queue_pair_number_that_the_responder_does_not_have) {
    Pair astray = client();
    astray.dest_qpn = 0x12;
    connect(astray);
    for (std::uint32_t qpn = 0x31; qpn < 0x36; ++qpn)
        log("server", R"("event":"qp","type":"RC","qpn":)" + std::to_string(qpn));
    for (int copy = 0; copy < 3; ++copy) {
        add(packet({.from = 2, .to = 1, .qpn = 0x12}, opcode::send_only, 100, 8));
        wait(67 * ms);
    }
    EXPECT_EQ(causes(), R"(
wrong-qpn certain, fatal
  client → server, QP 0x000012
  the server has no queue pair 0x000012.
  frame 1: RC SEND Only  PSN 0x000064  8 B
  server: has queue pair 0x000011
  server: has queue pair 0x000031
  server: has queue pair 0x000032
  server: has queue pair 0x000033
)");
}

TEST_F(ConnectionSetUp, with_a_queue_pair_number_that_a_log_with_missing_events_lacks) {
    Pair astray = client();
    astray.dest_qpn = 0x12;
    connect(astray);
    log("server", R"("event":"dropped","records":12)");
    for (int copy = 0; copy < 3; ++copy) {
        add(packet({.from = 2, .to = 1, .qpn = 0x12}, opcode::send_only, 100, 8));
        wait(67 * ms);
    }
    EXPECT_EQ(answered(), "unknown");
}

// As rocetrace --only mr leaves it.
TEST_F(ConnectionSetUp, with_a_log_without_queue_pairs) {
    log("server", R"("event":"device","device":"rxe0","gid_index":1,"gid":")" + gid(1) + '"');
    region("server", 0x1000, 4096, 7, "remote_write");
    make("client", client());
    ready("client", client());
    for (int copy = 0; copy < 3; ++copy) {
        send(100);
        wait(67 * ms);
    }
    EXPECT_EQ(answered(), "unknown");
}

// The responder's log may have been cut.
TEST_F(ConnectionSetUp, with_a_queue_pair_that_a_log_may_lack_because_it_ends_before) {
    Pair astray = client();
    astray.dest_qpn = 0x12;
    connect(astray);
    wait(201 * ms);
    for (int copy = 0; copy < 3; ++copy) {
        add(packet({.from = 2, .to = 1, .qpn = 0x12}, opcode::send_only, 100, 8));
        wait(67 * ms);
    }
    EXPECT_EQ(answered(), "unknown");
    log("server", R"("event":"process_end","pid":1)");
    EXPECT_EQ(answered(), "wrong-qpn certain");
}

TEST_F(ConnectionSetUp, with_a_queue_pair_that_responds_although_a_log_lacks_it) {
    Pair astray = client();
    astray.dest_qpn = 0x12;
    connect(astray);
    auto made = packet({.from = 2, .to = 1, .qpn = 0x12}, opcode::write_only, 100, 8);
    made.reth = wire::Reth{.va = 0x1000, .rkey = 7, .dmalen = 8};
    add(made);
    nak(100, syndrome::access_error);
    EXPECT_EQ(answered(), "remote-access certain");
}

TEST_F(ConnectionSetUp, without_rtr_in_a_log_that_ends_before) {
    make("server", server());
    make("client", client());
    ready("client", client());
    wait(201 * ms);
    for (int copy = 0; copy < 3; ++copy) {
        send(100);
        wait(67 * ms);
    }
    EXPECT_EQ(answered(), "unknown");
    log("server", R"("event":"process_end","pid":1)");
    EXPECT_EQ(answered(), "peer-not-ready certain");
}

TEST_F(ConnectionSetUp, of_a_responder_that_is_connected_to_another_queue_pair) {
    Pair elsewhere = server();
    elsewhere.dest_qpn = 0x22;
    connect(client(), elsewhere);
    repeat(100);
    EXPECT_EQ(causes(), R"(
wrong-qpn certain, fatal
  client → server, QP 0x000011
  the server's queue pair 0x000011 is connected to queue pair 0x000022, but the requests come from 0x000021.
  frame 1: RC SEND Only  PSN 0x000064  8 B
  client: its queue pair 0x000021
  server: dest_qpn 0x000022
)");
}

TEST_F(ConnectionSetUp, of_a_responder_that_never_reached_rtr) {
    make("server", server());
    only("client", client());
    posts_send(100, 8);
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(causes(), R"(
peer-not-ready certain, fatal
  client → server, QP 0x000011
  the server's queue pair 0x000011 never reached RTR: its state is INIT.
  client log: post_send  wr 1 SEND 8 B  PSN 0x000064 to 0x000064
  server: state INIT
)");
}

TEST_F(ConnectionSetUp, of_a_responder_that_never_reached_rtr_shows_the_first_packet) {
    make("server", server());
    only("client", client());
    posts_send(100, 8);
    repeat(100);
    EXPECT_EQ(causes(), R"(
peer-not-ready certain, fatal
  client → server, QP 0x000011
  the server's queue pair 0x000011 never reached RTR: its state is INIT.
  frame 1: RC SEND Only  PSN 0x000064  8 B
  server: state INIT
)");
}

TEST_F(ConnectionSetUp, of_a_responder_that_responded_without_an_event_of_rtr) {
    make("server", server());
    only("client", client());
    send(100);
    ack(100);
    repeat(101);
    EXPECT_EQ(answered(), "path-broken likely");
}

TEST_F(ConnectionSetUp, of_a_responder_that_was_late_and_responded_then) {
    capture_at_server();
    make("server", server());
    only("client", client());
    send(100);
    wait(67 * ms);
    ready("server", server());
    send(100);
    ack(100);
    EXPECT_EQ(causes(), R"(
peer-not-ready certain, 67001 us
  client → server, QP 0x000011
  the server's queue pair 0x000011 went to RTR 67.0 ms after the first request.
  frame 1: RC SEND Only  PSN 0x000064  8 B
  server log: queue pair 0x000011 went to RTR
)");
}

// {is captured at the server, delay in nanoseconds, expected}. A log entry may be 2 ms late; the
// clock of another host may differ by 200 ms.
class Readiness : public ConnectionSetUp,
                  public testing::WithParamInterface<std::tuple<bool, std::int64_t, const char*>> {
};

TEST_P(Readiness, is_compared_with_the_first_request) {
    const auto& [is_at_server, delay, expected] = GetParam();
    if (is_at_server)
        capture_at_server();
    make("server", server());
    only("client", client());
    send(100);
    wait(delay - 1000);
    ready("server", server());
    repeat(100, 2);
    EXPECT_EQ(answered(), expected);
}

INSTANTIATE_TEST_SUITE_P(All, Readiness,
                         testing::Values(std::tuple(true, 2 * ms, "unknown"),
                                         std::tuple(true, 2 * ms + 1, "peer-not-ready certain"),
                                         std::tuple(false, 200 * ms, "unknown"),
                                         std::tuple(false, 200 * ms + 1,
                                                    "peer-not-ready certain")));

TEST_F(ConnectionSetUp, with_another_partition_than_the_default) {
    repeat_with_p_key(0x8123);
    EXPECT_EQ(causes(), R"(
wrong-pkey likely, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  the requests have P_Key 0x8123, but the default partition is 0xffff.
  frame 1: RC SEND Only  PSN 0x000064  8 B
)");
}

// The highest bit tells full from limited members of the partition.
TEST_F(ConnectionSetUp, of_a_limited_member_of_the_default_partition) {
    repeat_with_p_key(0x7fff);
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(ConnectionSetUp, with_another_partition_than_the_packets_of_the_responder) {
    auto made = packet(to_client, opcode::send_only, 500, 8);
    made.bth->p_key = 0x8124;
    connect();
    add(made);
    repeat_with_p_key(0x8123);
    EXPECT_EQ(causes(), R"(
wrong-pkey certain, fatal
  server → client, QP 0x000021
  the requests have P_Key 0x8124, but the packets of the other end have 0x8123.
  frame 1: RC SEND Only  PSN 0x0001f4  8 B

wrong-pkey certain, fatal
  client → server, QP 0x000011
  the requests have P_Key 0x8123, but the packets of the other end have 0x8124.
  frame 2: RC SEND Only  PSN 0x000064  8 B
)");
}

TEST_F(ConnectionSetUp, with_another_partition_than_the_connect_request) {
    tell(2, wire::CmAttribute::ConnectRequest, {{0, "00000051"}, {48, "8124"}});
    repeat_with_p_key(0x8123);
    EXPECT_EQ(answered(), "wrong-pkey likely");
    EXPECT_EQ(first().open, std::vector{explain::Code::WrongGid});
}

TEST_F(ConnectionSetUp, with_the_partition_that_works_is_not_examined) {
    send_with_p_key(0x8123);
    ack(100);
    repeat(101);
    EXPECT_EQ(answered(), "peer-gone possible");
}

// The peer checked the request: it arrived.
TEST_F(ConnectionSetUp, whose_peer_refused_a_request_has_the_right_destination) {
    Pair other = client();
    other.dest_gid = gid(9);
    connect(other);
    posts_write(100, 0x1000, 7, 8);
    completes("REM_ACCESS_ERR");
    EXPECT_NE(answered().substr(0, 9), "wrong-gid");
}

}  // namespace explain_test
