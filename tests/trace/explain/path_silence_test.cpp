// Requests and responses that do not arrive, arrive after the ACK timeout, or are not in the
// capture.
#include "trace/explain/path_fixture.hpp"
#include "wire/encapsulations.hpp"

namespace explain_test {

TEST_F(PathOf, a_peer_that_is_gone) {
    capture_at_server();
    connect();
    send(100);
    ack(100);
    log("server", R"("event":"destroyed","what":"qp","qpn":17)");
    posts_send(101, 8);
    give_up(101);
    EXPECT_EQ(answered(), "peer-gone certain");
}

TEST_F(PathOf, a_queue_pair_that_falls_silent_while_its_host_goes_on) {
    send(100);
    ack(100);
    give_up(101);
    EXPECT_EQ(answered(), "peer-gone possible");
    add(packet({.from = 1, .to = 2, .qpn = 0x55}, opcode::send_only, 7, 8));
    EXPECT_EQ(answered(), "peer-gone likely");
}

// An ICMP error quotes the IP and UDP headers.
class Reported : public PathOf {
  protected:
    void lost(std::uint8_t hop_limit, std::string_view icmp, std::size_t length = 8) {
        auto request = packet(to_server, opcode::send_only, 100, length);
        request.ipv4->ttl = hop_limit;
        const auto frame = wire::encode(request);
        add(frame);
        add(wire_test::in_ethernet_ipv4(
            1, wire_test::joined(icmp, util::Bytes(frame).subspan(wire::Ethernet::size, 28))));
        for (int i = 0; i < 3; ++i) {
            wait(67 * ms);
            add(frame);
        }
    }
};

TEST_F(Reported, hop_limit_that_ran_out) {
    lost(1, "0b00 0000 00000000");
    EXPECT_EQ(answered(), "path-broken certain");
    EXPECT_EQ(
        first().text,
        "the router 10.9.0.2 dropped packets because their hop limit ran out: the capture has "
        "them with hop limit 1.");
    EXPECT_TRUE(shows_frame(2));
    EXPECT_TRUE(first().is_fatal);
}

TEST_F(Reported, routing_loop) {
    lost(64, "0b00 0000 00000000");
    EXPECT_EQ(answered(), "path-broken certain");
    EXPECT_NE(first().text.find("in a circle"), std::string::npos);
}

TEST_F(Reported, unreachable_host) {
    lost(64, "0301 0000 00000000");
    EXPECT_EQ(answered(), "path-broken certain");
}

TEST_F(Reported, host_without_roce) {
    lost(64, "0303 0000 00000000");
    EXPECT_EQ(answered(), "wrong-gid certain");
}

TEST_F(Reported, packet_that_is_too_big) {
    lost(64, "0304 0000 00000240", 1024);
    EXPECT_EQ(answered(), "large-packets-lost certain");
    EXPECT_NE(first().text.find("the next link, 576 bytes"), std::string::npos) << first().text;
}

TEST_F(Reported, packets_of_an_unreliable_connection) {
    const auto frame = wire::encode(packet(to_server, opcode::uc_send_only, 100, 8));
    add(frame);
    add(wire_test::in_ethernet_ipv4(
        1, wire_test::joined("0301 0000 00000000",
                             util::Bytes(frame).subspan(wire::Ethernet::size, 28))));
    EXPECT_EQ(answered(), "path-broken certain");
    EXPECT_TRUE(first().is_fatal);
}

TEST_F(Reported, packets_that_are_answered_later_are_not_lost) {
    auto request = packet(to_server, opcode::send_only, 100, 8);
    const auto frame = wire::encode(request);
    add(frame);
    add(wire_test::in_ethernet_ipv4(
        1, wire_test::joined("0b00 0000 00000000",
                             util::Bytes(frame).subspan(wire::Ethernet::size, 28))));
    wait(67 * ms);
    send(100);
    ack(100);
    answered();
    EXPECT_FALSE(last_.has_failed);
}

TEST_F(PathOf, requests_that_never_reach_the_capture) {
    capture_at_server();
    connect();
    send(100);
    ack(100);
    posts_send(101, 8);
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "path-broken likely");
}

TEST_F(PathOf, only_large_packets_that_never_reach_the_capture) {
    capture_at_server();
    connect();
    send(100, 64);
    ack(100);
    posts_send(101, 1000);
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "large-packets-lost likely");
}

// The program waits for a completion and is terminated.
TEST_F(PathOf, requests_without_completion_that_never_reach_the_capture) {
    one_of_two_requests_arrives();
    wait(5000 * ms);
    log("client", R"("event":"process_end","pid":1)");
    EXPECT_EQ(answered(), "path-broken possible");  // the capture may have ended before
    add(packet(to_client, opcode::send_only, 500, 8));
    EXPECT_EQ(answered(), "path-broken likely");
    EXPECT_TRUE(first().is_fatal);
}

// {bytes of payload that arrived, of the request without completion, whether that is why}
class LargeUnfinished
    : public PathOf,
      public testing::WithParamInterface<std::tuple<std::size_t, std::uint64_t, bool>> {};

TEST_P(LargeUnfinished, request_that_never_reaches_the_capture) {
    const auto& [arrived, unfinished, is_why] = GetParam();
    capture_at_server();
    connect();
    posts_send(100, arrived);
    send(100, arrived);
    ack(100);
    completes("SUCCESS");
    posts_send(101, unfinished);
    wait(5000 * ms);
    log("client", R"("event":"process_end","pid":1)");
    add(packet(to_client, opcode::send_only, 500, 8));
    EXPECT_EQ(answered(), is_why ? "large-packets-lost likely" : "path-broken likely");
    EXPECT_TRUE(first().is_fatal);
    EXPECT_EQ(shows_frame(1), is_why);
    EXPECT_NE(first().evidence.back().text.find(is_why ? "post_send" : "RC Acknowledge"),
              std::string::npos);
}

// The path MTU is 1024 bytes: longer messages have no larger packets.
INSTANTIATE_TEST_SUITE_P(PathOf, LargeUnfinished,
                         testing::Values(std::tuple(64, 65, true), std::tuple(64, 64, false),
                                         std::tuple(1000, 5000, true),
                                         std::tuple(1024, 5000, false)));

TEST_F(PathOf, a_request_that_the_program_did_not_wait_for) {
    one_of_two_requests_arrives();
    wait(100 * ms);
    log("client", R"("event":"destroyed","what":"qp","qpn":33)");
    wait(5000 * ms);
    log("client", R"("event":"process_end","pid":1)");
    EXPECT_EQ(answered(), "none");
}

TEST_F(PathOf, a_local_operation_that_no_packet_shows) {
    capture_at_server();
    connect();
    log("client",
        R"("event":"post_send","qpn":33,"wr_id":1,"opcode":"LOCAL_INV","signaled":false)");
    wait(5000 * ms);
    log("client", R"("event":"process_end","pid":1)");
    add(packet(to_client, opcode::send_only, 500, 8));
    EXPECT_EQ(answered(), "none");
}

TEST_F(PathOf, large_responses_of_reads_whose_last_one_arrives) {
    std::uint64_t request = 0;
    for (int copy = 0; copy < 3; ++copy) {
        request = add(read(to_server, 100, 1500));
        add(packet(to_client, opcode::read_last, 101, 476));
        wait(67 * ms);
    }
    EXPECT_EQ(answered(), "large-packets-lost likely");
    EXPECT_TRUE(first().is_fatal);
    EXPECT_FALSE(shows_frame(request));
}

TEST_F(PathOf, answers_that_do_not_come_back) {
    connect();
    posts_send(100, 8);
    for (int copy = 0; copy < 4; ++copy) {
        send(100);
        ack(100);
        wait(67 * ms);
    }
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "acks-lost likely");
}

// They did, to the capture at least.
TEST_F(PathOf, answers_that_came_back_to_the_requesters_host) {
    for (explain::Explainer* one : {&explainer_, &forgetful_})
        one->captured_at(*flow::host_of_gid(gid(2)));
    connect();
    for (int copy = 0; copy < 4; ++copy) {
        send(100);
        ack(100);
        wait(67 * ms);
    }
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "acks-lost possible");
    EXPECT_TRUE(first().text.ends_with("its device ignores them.")) << first().text;
}

TEST_F(PathOf, a_requester_that_gives_up_before_responses_can_come_back) {
    make("server", server());
    make("client", client());
    ready("server", server());
    ready("client", client(), 10);  // ACK timeout 4.2 ms, retry_cnt 3
    posts_send(100, 8);
    send(100);
    ack(100);
    for (int copy = 0; copy < 3; ++copy) {
        wait(4 * ms);
        send(100);
        ack(100);
    }
    completes("RETRY_EXC_ERR");
    EXPECT_EQ(answered(), "timeout-too-short likely");
}

TEST_F(PathOf, silence_without_logs_from_the_start_is_unknown) {
    for (int copy = 0; copy < 4; ++copy) {
        send(100);
        wait(67 * ms);
    }
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(PathOf, answers_later_than_the_timeout) {
    make("server", server());
    make("client", client());
    ready("server", server());
    ready("client", client(), 10);  // ACK timeout 4.2 ms
    for (std::uint32_t psn = 100; psn < 103; ++psn) {
        send(psn);
        wait(5 * ms);
        send(psn);
        wait(1 * ms);
        ack(psn);
        ack(psn);
    }
    EXPECT_EQ(answered(), "timeout-too-short certain");
}

// The capture is at the requester, and the round trip takes about 27 ms.
TEST_F(PathOf, answers_that_all_take_longer_than_the_timeout) {
    make("server", server());
    make("client", client());
    ready("server", server());
    ready("client", client(), 11);  // ACK timeout 8.4 ms
    for (int copy = 0; copy < 4; ++copy) {
        for (std::uint32_t psn = 100; psn < 103; ++psn) {
            send(psn);
            if (copy == 3)
                ack(psn);
        }
        wait(9 * ms);
    }
    for (int copy = 0; copy < 9; ++copy)
        ack(102);
    EXPECT_EQ(answered(), "timeout-too-short certain");
}

TEST_F(PathOf, a_capture_of_one_direction) {
    connect();
    for (std::uint32_t psn = 100; psn < 110; ++psn)
        send(psn);
    EXPECT_EQ(answered(), "one-sided-capture likely");
}

TEST_F(PathOf, a_capture_of_one_direction_takes_three_requests) {
    connect();
    send(100);
    send(101);
    answered();
    EXPECT_TRUE(std::ranges::none_of(last_.causes, [](const explain::Cause& one) {
        return one.code == explain::Code::OneSidedCapture;
    }));
    send(102);
    EXPECT_EQ(answered(), "one-sided-capture likely");
}

// An atomic operation has a response, also if it does not ask for an acknowledgement.
TEST_F(PathOf, a_capture_of_one_direction_with_atomic_operations) {
    connect();
    for (std::uint32_t psn = 100; psn < 103; ++psn) {
        auto made = packet(to_server, opcode::fetch_add, psn);
        made.atomic_eth = wire::AtomicEth{.va = 0x1000, .rkey = 1, .swapdt = 1, .cmpdt = 0};
        add(made);
    }
    EXPECT_EQ(answered(), "one-sided-capture likely");
}

TEST_F(PathOf, a_capture_of_the_answers_alone) {
    for (std::uint32_t psn = 100; psn < 110; ++psn)
        ack(psn);
    EXPECT_EQ(answered(), "one-sided-capture certain");
}

TEST_F(PathOf, large_packets_of_messages_whose_last_one_arrives) {
    connect();
    for (int copy = 0; copy < 4; ++copy) {
        add(packet(to_server, opcode::send_last, 104, 8));
        if (copy == 0)
            nak(100, syndrome::psn_error);
        wait(67 * ms);
    }
    EXPECT_EQ(answered(), "large-packets-lost likely");
}

}  // namespace explain_test
