// Queues that are full, calls that fail, and READs that a queue pair never sends.
#include "trace/explain/account.hpp"

namespace explain_test {

class WorkQueue : public Account {
  protected:
    void fails(std::string_view call, std::string_view rest) {
        log("client",
            R"("event":"failed","call":")" + std::string(call) + R"(",)" + std::string(rest));
    }
    void enters_rtr(std::string_view error, std::string_view rest = "") {
        fails("ibv_modify_qp", R"("error":")" + std::string(error) +
                                   R"(","qpn":33,"from":"INIT","to":"RTR")" + std::string(rest));
    }
    void own_gid(const std::string& text) {
        log("client", R"("event":"device","device":"rxe0","gid_index":3,"gid":")" + text + '"');
    }
};

TEST_F(WorkQueue, of_sends_that_is_full) {
    connect();
    for (std::uint32_t psn = 100; psn < 117; ++psn)
        posts_send(psn, 8);
    completes("SUCCESS");
    fails("ibv_post_send", R"("error":"ENOMEM","qpn":33,"wr_id":9)");
    fails("ibv_post_send", R"("error":"ENOMEM","qpn":33,"wr_id":10)");
    EXPECT_EQ(causes(), R"(
send-queue-full certain, fatal
  client → server, QP 0x000011
  the send queue had no free slot: ibv_post_send was refused with ENOMEM.
  client log: failed    ibv_post_send: ENOMEM  QP 0x000021  wr 9
  client: max_send_wr 16, 16 requests outstanding
)");
}

// Many programs post until the queue is full.
TEST_F(WorkQueue, of_sends_that_is_full_is_no_failure_of_a_program_that_goes_on) {
    connect();
    for (std::uint32_t psn = 100; psn < 116; ++psn)
        posts_send(psn, 8);
    fails("ibv_post_send", R"("error":"ENOMEM","qpn":33,"sends_outstanding":16)");
    completes("SUCCESS");
    posts_send(116, 8);
    EXPECT_EQ(answered(), "send-queue-full certain");
    EXPECT_FALSE(first().is_fatal);
}

// {fields of the refused call, expected}
class QueueOf16 : public WorkQueue,
                  public testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(QueueOf16, is_full_if_its_requests_are_outstanding) {
    connect();
    fails("ibv_post_send", R"("error":"ENOMEM","qpn":33)" + std::string(GetParam().first));
    EXPECT_EQ(answered(), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(
    All, QueueOf16,
    testing::Values(std::pair(R"(,"sends_outstanding":16)", "send-queue-full certain"),
                    std::pair(R"(,"sends_outstanding":15)", "call-failed certain"),
                    std::pair(R"(,"sends_outstanding":0)", "call-failed certain"),
                    std::pair(R"(,"sends_outstanding":14,"requests":3)", "send-queue-full certain"),
                    std::pair(R"(,"sends_outstanding":14,"requests":2)", "call-failed certain"),
                    std::pair("", "send-queue-full likely")));

TEST_F(WorkQueue, of_sends_with_room_is_not_blamed_for_a_refusal) {
    connect();
    for (std::uint32_t psn = 100; psn < 103; ++psn)
        posts_send(psn, 8);
    completes("SUCCESS");
    fails("ibv_post_send", R"("error":"ENOMEM","qpn":33,"wr_id":9)");
    EXPECT_EQ(causes(), R"(
call-failed certain, fatal
  client
  the call ibv_post_send of the client failed with ENOMEM: the send queue has a free slot, but not the memory for the request.
  client log: failed    ibv_post_send: ENOMEM  QP 0x000021  wr 9
  client: max_send_wr 16, 2 requests outstanding
)");
}

// The first refusal of a queue with room does not hide the later one of a full queue.
TEST_F(WorkQueue, of_sends_that_is_full_after_another_refusal) {
    connect();
    fails("ibv_post_send", R"("error":"ENOMEM","qpn":33,"wr_id":8,"sends_outstanding":2)");
    fails("ibv_wr_complete", R"("error":"ENOMEM","qpn":33,"requests":2,"sends_outstanding":15)");
    EXPECT_EQ(causes(), R"(
send-queue-full certain, fatal
  client, QP 0x000021
  the send queue had no free slot: ibv_wr_complete was refused with ENOMEM.
  client log: failed    ibv_wr_complete: ENOMEM  QP 0x000021
  client: max_send_wr 16, 15 requests outstanding
)");
}

// The log has not all requests.
TEST_F(WorkQueue, of_sends_in_a_log_with_gaps_is_likely_full) {
    connect();
    posts_send(100, 8);
    log("client", R"("event":"dropped","records":5)");
    fails("ibv_post_send", R"("error":"ENOMEM","qpn":33,"wr_id":9)");
    EXPECT_EQ(answered(), "send-queue-full likely");
}

TEST_F(WorkQueue, of_sends_that_is_full_with_unknown_size) {
    log("client", R"("event":"qp","qpn":33,"type":"RC")");
    posts_send(100, 8);
    fails("ibv_post_send", R"("error":"ENOMEM","qpn":33,"wr_id":9)");
    EXPECT_EQ(causes(), R"(
send-queue-full likely, fatal
  client, QP 0x000021
  the send queue had no free slot: ibv_post_send was refused with ENOMEM.
  client log: failed    ibv_post_send: ENOMEM  QP 0x000021  wr 9
  client: 1 requests outstanding
)");
}

TEST_F(WorkQueue, of_sends_that_is_empty_is_not_full) {
    log("client", R"("event":"qp","qpn":33,"type":"RC")");
    fails("ibv_post_send", R"("error":"ENOMEM","qpn":33,"wr_id":9,"sends_outstanding":0)");
    EXPECT_EQ(answered(), "call-failed certain");
}

TEST_F(WorkQueue, of_an_unknown_queue_pair_that_is_full) {
    connect();
    fails("ibv_post_send", R"("error":"ENOMEM","qpn":34,"wr_id":9)");
    EXPECT_EQ(causes(), R"(
send-queue-full likely, fatal
  client
  the send queue had no free slot: ibv_post_send was refused with ENOMEM.
  client log: failed    ibv_post_send: ENOMEM  QP 0x000022  wr 9
)");
}

// Both programs have a queue pair with this number, and the client has two.
TEST_F(WorkQueue, of_the_newest_queue_pair_of_the_program_that_is_full) {
    for (const auto& [role, size] :
         {std::pair{"client", "4"}, std::pair{"client", "5"}, std::pair{"server", "6"}})
        log(role, R"("event":"qp","qpn":33,"type":"RC","max_send_wr":)" + std::string(size));
    fails("ibv_post_send", R"("error":"ENOMEM","qpn":33,"wr_id":9,"sends_outstanding":5)");
    log("client", R"("event":"qp","qpn":33,"type":"RC","max_send_wr":7)");
    EXPECT_EQ(causes(), R"(
send-queue-full certain, fatal
  client, QP 0x000021
  the send queue had no free slot: ibv_post_send was refused with ENOMEM.
  client log: failed    ibv_post_send: ENOMEM  QP 0x000021  wr 9
  client: max_send_wr 5, 5 requests outstanding
)");
}

TEST_F(WorkQueue, of_receives_that_is_full) {
    connect();
    fails("ibv_post_recv", R"("error":"ENOMEM","qpn":33,"wr_id":9)");
    EXPECT_EQ(answered(), "call-failed certain");
}

TEST_F(WorkQueue, of_receives_that_is_full_does_not_hide_one_of_sends) {
    connect();
    fails("ibv_post_recv", R"("error":"ENOMEM","qpn":33,"wr_id":8)");
    fails("ibv_post_send", R"("error":"ENOMEM","qpn":33,"wr_id":9,"sends_outstanding":16)");
    EXPECT_EQ(answered(), "send-queue-full certain");
}

TEST_F(WorkQueue, of_sends_that_refuses_for_another_reason) {
    connect();
    fails("ibv_post_send", R"("error":"EINVAL","qpn":33,"wr_id":9)");
    EXPECT_EQ(answered(), "call-failed certain");
}

// A program that goes on did not need the call, or called it again.
TEST_F(WorkQueue, refuses_a_request_of_a_program_that_goes_on) {
    connect();
    fails("ibv_post_send", R"("error":"EINVAL","qpn":33,"wr_id":9)");
    posts_send(100, 8);
    completes("SUCCESS");
    EXPECT_EQ(answered(), "none");
}

TEST_F(WorkQueue, that_has_no_room_in_memory_is_not_a_full_one) {
    connect();
    fails("ibv_create_qp", R"("error":"ENOMEM")");
    EXPECT_EQ(answered(), "call-failed certain");
}

TEST_F(WorkQueue, of_completions_that_overflows_has_an_event) {
    log("client", R"("event":"async","type":"CQ_ERR","cq":1)");
    EXPECT_EQ(causes(), R"(
cq-overrun certain, fatal
  client
  a completion queue had more completions than entries and stopped working.
  client log: async     CQ_ERR
)");
    EXPECT_EQ(last_.signs.size(), 1U);
}

TEST_F(WorkQueue, of_completions_is_not_blamed_for_another_event) {
    log("client", R"("event":"async","type":"PORT_ERR")");
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(WorkQueue, of_completions_with_more_requests_than_entries) {
    connect();
    set_entries("client", 2);
    for (std::uint32_t psn = 100; psn < 103; ++psn)
        posts_send(psn, 8);
    EXPECT_EQ(causes(), R"(
cq-overrun likely, fatal
  client → server, QP 0x000011
  3 signaled requests have no completion, and the completion queue has 2 entries.
  client: completion queue 1 with 2 entries
)");
}

// One of four requests completed, one is not signaled: two completions are due.
TEST_F(WorkQueue, of_completions_is_not_blamed_as_long_as_all_fit) {
    connect();
    set_entries("client", 2);
    posts_send(100, 8);
    completes("SUCCESS");
    posts("SEND", 8, R"(,"signaled":false)");
    posts_send(102, 8);
    posts_send(103, 8);
    EXPECT_EQ(answered(), "none");
    posts_send(104, 8);
    EXPECT_EQ(answered(), "cq-overrun likely");
}

// The log has request 4, and not the requests 0 to 3.
TEST_F(WorkQueue, of_completions_is_not_blamed_for_requests_that_are_not_in_the_log) {
    connect();
    set_entries("client", 2);
    posts("SEND", 8, R"(,"request":4)");
    posts("SEND", 8, R"(,"request":5)");
    EXPECT_EQ(answered(), "none");
}

TEST_F(WorkQueue, of_completions_is_not_blamed_if_an_error_explains_the_end) {
    connect();
    set_entries("client", 2);
    for (std::uint32_t psn = 100; psn < 104; ++psn)
        posts_send(psn, 8);
    completes("LOC_QP_OP_ERR");
    EXPECT_EQ(answered(), "local-protection likely");
    EXPECT_EQ(last_.causes.size(), 1U);
}

TEST_F(WorkQueue, of_completions_with_an_unknown_size_is_not_blamed) {
    log("client", R"("event":"qp","qpn":33,"type":"RC","send_cq":1)");
    posts_send(100, 8);
    EXPECT_EQ(answered(), "none");
}

TEST_F(WorkQueue, of_an_unknown_completion_queue_is_not_blamed) {
    log("client", R"("event":"qp","qpn":33,"type":"RC")");
    log("client", R"("event":"cq","cq":0,"entries":1)");
    posts_send(100, 8);
    posts_send(101, 8);
    EXPECT_EQ(answered(), "none");
}

struct Unsent {
    const char* opcode;
    const char* depth;
    const char* expected;
};
class ReadThat : public WorkQueue, public testing::WithParamInterface<Unsent> {};

TEST_P(ReadThat, may_not_be_outstanding_is_never_sent) {
    log("client", R"("event":"qp","qpn":33,"type":"RC")");
    log("client", R"("event":"qp_state","qpn":33,"state":"RTS")" + std::string(GetParam().depth));
    posts(GetParam().opcode, 8);
    EXPECT_EQ(answered(), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, ReadThat,
    testing::Values(Unsent{"RDMA_READ", R"(,"max_rd_atomic":0)", "read-depth certain"},
                    Unsent{"ATOMIC_FETCH_AND_ADD", R"(,"max_rd_atomic":0)", "read-depth certain"},
                    Unsent{"RDMA_WRITE", R"(,"max_rd_atomic":0)", "none"},
                    Unsent{"RDMA_READ", R"(,"max_rd_atomic":1)", "none"},
                    Unsent{"RDMA_READ", "", "none"}));

TEST_F(WorkQueue, that_never_sends_a_read) {
    connect();
    log("client", R"("event":"qp_state","qpn":33,"state":"RTS","max_rd_atomic":0)");
    posts("RDMA_READ", 8);
    EXPECT_EQ(causes(), R"(
read-depth certain, fatal
  client → server, QP 0x000011
  the client's queue pair 0x000021 may have no READ or atomic outstanding: it never sends the one that the program posted.
  client log: post_send  wr 1 RDMA_READ 8 B
  client: max_rd_atomic 0
)");
}

TEST_F(WorkQueue, that_completed_its_read) {
    connect();
    log("client", R"("event":"qp_state","qpn":33,"state":"RTS","max_rd_atomic":0)");
    posts("RDMA_READ", 8);
    completes("SUCCESS");
    EXPECT_EQ(answered(), "none");
}

class UnreachableBy : public WorkQueue, public testing::WithParamInterface<const char*> {};

TEST_P(UnreachableBy, its_error) {
    make("client", client());
    enters_rtr(GetParam(), R"(,"gid_index":1,"dest_gid":"::ffff:192.0.2.9")");
    EXPECT_EQ(answered(), "wrong-gid likely");
}

INSTANTIATE_TEST_SUITE_P(All, UnreachableBy,
                         testing::Values("ENETUNREACH", "EHOSTUNREACH", "ETIMEDOUT", "ENODEV"));

TEST_F(WorkQueue, whose_pair_cannot_reach_its_destination) {
    make("client", client());
    enters_rtr("ENETUNREACH", R"(,"gid_index":1,"dest_gid":"::ffff:192.0.2.9")");
    EXPECT_EQ(causes(), R"(
wrong-gid likely, fatal
  client, QP 0x000021
  the queue pair cannot reach the destination GID: no host has this address.
  client log: failed    ibv_modify_qp: ENETUNREACH  QP 0x000021  INIT to RTR  GID index 1 to ::ffff:192.0.2.9
)");
}

TEST_F(WorkQueue, whose_unknown_pair_cannot_reach_its_destination) {
    enters_rtr("ENODEV");
    EXPECT_EQ(causes(), R"(
wrong-gid likely, fatal
  client
  the queue pair cannot reach the destination GID: no host has this address.
  client log: failed    ibv_modify_qp: ENODEV  QP 0x000021  INIT to RTR
)");
}

TEST_F(WorkQueue, whose_pair_fails_to_enter_another_state) {
    make("client", client());
    fails("ibv_modify_qp", R"("error":"ENODEV","qpn":33,"from":"RTR","to":"RTS")");
    EXPECT_EQ(answered(), "call-failed certain");
}

TEST_F(WorkQueue, whose_destination_is_of_another_family) {
    make("client", client());
    own_gid("fe80::2");
    enters_rtr("EINVAL", R"(,"gid_index":3,"dest_gid":"::ffff:192.0.2.1")");
    EXPECT_EQ(causes(), R"(
wrong-gid certain, fatal
  client, QP 0x000021
  the GID of the given index and the destination GID are of different families (IPv4 and IPv6).
  client log: failed    ibv_modify_qp: EINVAL  QP 0x000021  INIT to RTR  GID index 3 to ::ffff:192.0.2.1
  client: GID of this index: fe80::2
)");
}

// {index of the own GID, destination}
class FamilyOf : public WorkQueue,
                 public testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(FamilyOf, gids_that_is_the_same_or_unknown) {
    make("client", client());
    own_gid("fe80::2");
    enters_rtr("EINVAL", R"(,"gid_index":)" + std::string(GetParam().first) + R"(,"dest_gid":")" +
                             std::string(GetParam().second) + '"');
    EXPECT_EQ(answered(), "call-failed certain");
}

INSTANTIATE_TEST_SUITE_P(All, FamilyOf,
                         testing::Values(std::pair("3", "fe80::1"),
                                         std::pair("1", "::ffff:192.0.2.1"),
                                         std::pair("2", "::ffff:192.0.2.1"), std::pair("3", "-")));

}  // namespace explain_test
