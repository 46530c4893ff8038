// What the run logs tell: requests by number or by wr_id, resets, and completions.
#include "trace/explain/account.hpp"

namespace explain_test {

class RunLog : public Account {
  protected:
    void completes_request(std::string_view status, std::string_view more) {
        log("client", R"("event":"wc","qpn":33,"wr_id":2,"status":")" + std::string(status) + '"' +
                          std::string(more));
    }
    void posts_three() {
        for (int id = 1; id < 4; ++id)
            log("client", R"("event":"post_send","qpn":33,"opcode":"SEND","len":8,"wr_id":)" +
                              std::to_string(id));
    }
    void resets(std::string_view role, int qpn) {
        log(role, R"("event":"qp_state","state":"RESET","qpn":)" + std::to_string(qpn));
    }
};

TEST_F(RunLog, without_numbers_of_requests_has_their_wr_id) {
    connect();
    posts_three();
    completes_request("LOC_PROT_ERR", R"(,"queue":"send")");
    EXPECT_EQ(causes(), R"(
local-protection certain, fatal
  client → server, QP 0x000011
  a request of the client used memory that its queue pair may not use.
  client log: post_send  wr 2 SEND 8 B
  client log: wc  wr 2 LOC_PROT_ERR
)");
}

TEST_F(RunLog, without_the_request_of_a_wr_id) {
    connect();
    posts_send(100, 8);
    completes_request("LOC_PROT_ERR", R"(,"queue":"send")");
    EXPECT_EQ(causes(), R"(
local-protection certain, fatal
  client → server, QP 0x000011
  a request of the client used memory that its queue pair may not use.
  client log: wc  wr 2 LOC_PROT_ERR
)");
}

// {opcode of the completion, expected}
class CompletionWithoutQueue
    : public RunLog,
      public testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(CompletionWithoutQueue, is_a_receive_by_its_opcode) {
    connect();
    posts_three();
    completes_request("LOC_LEN_ERR", R"(,"opcode":")" + std::string(GetParam().first) + '"');
    EXPECT_EQ(answered(), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(All, CompletionWithoutQueue,
                         testing::Values(std::pair("RECV_RDMA_WITH_IMM",
                                                   "receive-too-small certain"),
                                         std::pair("SEND", "local-length certain")));

TEST_F(RunLog, forgets_the_requests_of_a_queue_pair_that_is_reset) {
    connect();
    posts_three();
    resets("client", 33);
    posts_send(100, 8);
    log("client", R"("event":"failed","call":"ibv_post_send","error":"ENOMEM","qpn":33,"wr_id":9)");
    answered();
    EXPECT_EQ(first().evidence.back().text, "max_send_wr 16, 1 requests outstanding");
}

TEST_F(RunLog, forgets_the_receives_of_a_queue_pair_that_is_reset) {
    connect();
    server_posts_receive(16);
    resets("server", 17);
    receive_completes("LOC_LEN_ERR");
    answered();
    EXPECT_EQ(first().text, "a message does not fit into the posted receive.");
}

// After it, the first receive is again the one for the next message.
TEST_F(RunLog, forgets_the_completed_receives_of_a_queue_pair_that_is_reset) {
    connect();
    server_posts_receive(128);
    receive_completes("SUCCESS");
    resets("server", 17);
    ready("server", server());
    server_posts_receive(16);
    send(100, 64);
    nak(100, 0x61);
    answered();
    EXPECT_EQ(first().text,
              "a message of 64 bytes does not fit into the posted receive of 16 bytes.");
}

// {completed requests, expected}. A completion covers the unsignaled requests before it. The
// completion queue has two entries, and the queue pair posts six requests.
class Completed : public RunLog,
                  public testing::WithParamInterface<std::pair<std::vector<int>, const char*>> {};

TEST_P(Completed, requests_include_those_before) {
    connect();
    set_entries("client", 2);
    posts_three();
    posts_three();
    for (const int number : GetParam().first)
        completes_request("SUCCESS", R"(,"queue":"send","request":)" + std::to_string(number));
    EXPECT_EQ(answered(), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(All, Completed,
                         testing::Values(std::pair(std::vector{3}, "none"),
                                         std::pair(std::vector{2}, "cq-overrun likely"),
                                         std::pair(std::vector{1, 3}, "none"),
                                         std::pair(std::vector{1, 2}, "cq-overrun likely"),
                                         std::pair(std::vector{9}, "cq-overrun likely")));

// Two queue pairs post three requests each, and complete in one queue. {its entries, the last PSN that is
// acknowledged, whether the first queue pair ends before the second begins, expected}
class CommonQueue : public RunLog,
                    public testing::WithParamInterface<std::tuple<int, int, bool, const char*>> {};

TEST_P(CommonQueue, may_be_too_small_for_all_together) {
    const auto [entries, acknowledged, is_gone, expected] = GetParam();
    for (const std::uint32_t other : {0U, 1U}) {
        Pair from = client(), to = server();
        for (Pair* pair : {&from, &to}) {
            pair->qpn += other;
            pair->dest_qpn += other;
        }
        Way there = to_server, back = to_client;
        there.qpn += other;
        back.qpn += other;
        connect(from, to);
        for (std::uint32_t psn = 100; psn < 103; ++psn) {
            log("client", fmt::format(R"("event":"post_send","qpn":{},"opcode":"SEND","len":8,)"
                                      R"("wr_id":{},"psn_first":{},"psn_last":{})",
                                      from.qpn, psn, psn, psn));
            add(packet(there, opcode::send_only, psn, 8));
        }
        add(answer(back, static_cast<std::uint32_t>(acknowledged)));
        if (is_gone)
            log("client", fmt::format(R"("event":"destroyed","what":"qp","qpn":{})", from.qpn));
    }
    log("client", R"("event":"destroyed","what":"qp","qpn":34)");
    set_entries("client", entries);
    EXPECT_EQ(answered(), expected);
    if (expected != std::string_view("none")) {
        EXPECT_EQ(first().text,
                  "6 signaled requests of 2 queue pairs were acknowledged and have no completion, "
                  "and the completion queue has 5 entries.");
    }
}

INSTANTIATE_TEST_SUITE_P(All, CommonQueue,
                         testing::Values(std::tuple(5, 102, false, "cq-overrun likely"),
                                         std::tuple(6, 102, false, "none"),
                                         std::tuple(5, 101, false, "none"),
                                         std::tuple(5, 102, true, "none")));

TEST_F(RunLog, of_a_device_without_gid_has_no_path_mtu) {
    log("client", R"("event":"device","device":"rxe0","path_mtu":1024)");
    log("client", R"("event":"qp","qpn":33,"type":"UD")");
    posts("SEND", 1025, R"(,"dest_qpn":17)");
    EXPECT_EQ(answered(), "none");
}

// Without packets, the time of the refusal is that of a completion at the other host.
TEST_F(RunLog, alone_does_not_show_when_a_region_went) {
    connect();
    region("server", 0x1000, 4096, 0x300, "local_write remote_write");
    log("server", R"("event":"destroyed","what":"mr","va":4096,"lkey":7,"rkey":768)");
    wait(5000 * ms);
    posts_write(100, 0x1000, 0x300, 64);
    completes("REM_ACCESS_ERR");
    EXPECT_EQ(answered(), "deregistered possible");
}

// The responder refuses the second packet of a message.
TEST_F(RunLog, and_packets_show_the_whole_message_that_was_refused) {
    connect();
    server_posts_receive(2000);
    add(packet(to_server, opcode::send_first, 100, 1024));
    add(packet(to_server, opcode::send_middle, 101, 1024));
    add(packet(to_server, opcode::send_last, 102, 8));
    add(packet(to_server, opcode::send_only, 103, 8));
    nak(101, 0x61);
    EXPECT_EQ(causes(), R"(
receive-too-small certain, fatal
  client → server, QP 0x000011
  a message of 2056 bytes does not fit into the posted receive of 2000 bytes.
  frame 1: RC SEND First  PSN 0x000064  1024 B
  frame 2: RC SEND Middle  PSN 0x000065  1024 B
  frame 5: RC Acknowledge  PSN 0x000065  NAK: Invalid Request
)");
}

TEST_F(RunLog, and_packets_of_a_message_that_begins_before_the_capture) {
    connect();
    server_posts_receive(4);
    add(packet(to_server, opcode::send_middle, 101, 1024));
    add(packet(to_server, opcode::send_last, 102, 8));
    nak(102, 0x61);
    EXPECT_EQ(causes(), R"(
receive-too-small certain, fatal
  client → server, QP 0x000011
  a message of 8 bytes does not fit into the posted receive of 4 bytes.
  frame 2: RC SEND Last  PSN 0x000066  8 B
  frame 3: RC Acknowledge  PSN 0x000066  NAK: Invalid Request
)");
}

}  // namespace explain_test
