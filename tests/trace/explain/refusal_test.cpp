// Accesses to memory that a responder refuses, and the facts that are compared.
#include "trace/explain/account.hpp"

namespace explain_test {

class Refusal : public Account {
  protected:
    static constexpr std::uint64_t start = 0x1000;
    static constexpr std::uint32_t key = 0x300;
    static constexpr const char* rights = "local_write remote_write";

    /// Refuses a WRITE of 64 bytes.
    void refuse(std::uint64_t at = start, std::uint32_t its_key = key, std::uint32_t length = 64) {
        write(100, at, its_key, length);
        nak(100, syndrome::access_error);
    }
    void only_the_client() {
        make("client", client());
        ready("client", client());
    }
    void told(std::uint64_t first, std::uint64_t length, std::uint32_t its_key,
              std::string_view role = "client") {
        log(role, R"("event":"exchange","direction":"received","channel":"TCP","va":)" +
                      std::to_string(first) + R"(,"len":)" + std::to_string(length) +
                      R"(,"rkey":)" + std::to_string(its_key));
    }
};

TEST_F(Refusal, of_an_unknown_rkey_shows_the_regions) {
    connect();
    for (std::uint32_t i = 0; i < 3; ++i)
        region("server", start, 4096, key + 1 + i, rights);
    region("server", start, 4096, 0, "local_write");
    region("client", start, 4096, key, rights);
    refuse();
    EXPECT_EQ(causes(), R"(
wrong-rkey certain, fatal
  client → server, QP 0x000011
  the server has no memory region with rkey 0x00000300. It is the rkey of a region of the client.
  frame 1: RC RDMA WRITE Only  PSN 0x000064  va 0x1000 rkey 0x00000300, 64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Remote Access Error
  server: memory 0x1000 + 4096 B  rkey 0x00000301  local_write remote_write
  server: memory 0x1000 + 4096 B  rkey 0x00000302  local_write remote_write
  server: memory 0x1000 + 4096 B  rkey 0x00000303  local_write remote_write
)");
}

TEST_F(Refusal, of_an_unknown_rkey_shows_at_most_three_regions) {
    connect();
    for (std::uint32_t i = 0; i < 5; ++i)
        region("server", start, 4096, key + 1 + i, rights);
    refuse();
    EXPECT_EQ(causes(), R"(
wrong-rkey certain, fatal
  client → server, QP 0x000011
  the server has no memory region with rkey 0x00000300.
  frame 1: RC RDMA WRITE Only  PSN 0x000064  va 0x1000 rkey 0x00000300, 64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Remote Access Error
  server: memory 0x1000 + 4096 B  rkey 0x00000301  local_write remote_write
  server: memory 0x1000 + 4096 B  rkey 0x00000302  local_write remote_write
  server: memory 0x1000 + 4096 B  rkey 0x00000303  local_write remote_write
  server: and 2 more regions
)");
}

TEST_F(Refusal, is_compared_with_the_newest_region_of_the_rkey) {
    connect();
    region("server", start, 64, key, "local_write");
    region("server", start, 32, key, rights);
    refuse();
    EXPECT_EQ(causes(), R"(
out-of-bounds certain, fatal
  client → server, QP 0x000011
  the access ends 32 bytes past the end of the region.
  frame 1: RC RDMA WRITE Only  PSN 0x000064  va 0x1000 rkey 0x00000300, 64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Remote Access Error
  server: memory 0x1000 + 32 B  rkey 0x00000300  local_write remote_write
)");
}

TEST_F(Refusal, of_an_access_before_the_region) {
    connect();
    region("server", start, 4096, key, rights);
    refuse(start - 1);
    EXPECT_EQ(causes(), R"(
out-of-bounds certain, fatal
  client → server, QP 0x000011
  the access begins 1 byte before the region.
  frame 1: RC RDMA WRITE Only  PSN 0x000064  va 0xfff rkey 0x00000300, 64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Remote Access Error
  server: memory 0x1000 + 4096 B  rkey 0x00000300  local_write remote_write
)");
}

TEST_F(Refusal, of_an_access_far_behind_the_region) {
    connect();
    region("server", start, 4096, key, rights);
    refuse(start + 4096 - 62);
    EXPECT_EQ(causes(), R"(
out-of-bounds certain, fatal
  client → server, QP 0x000011
  the access ends 2 bytes past the end of the region.
  frame 1: RC RDMA WRITE Only  PSN 0x000064  va 0x1fc2 rkey 0x00000300, 64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Remote Access Error
  server: memory 0x1000 + 4096 B  rkey 0x00000300  local_write remote_write
)");
}

TEST_F(Refusal, of_an_access_that_wraps_around) {
    connect();
    region("server", start, 4096, key, rights);
    refuse(UINT64_MAX - 62);
    EXPECT_EQ(causes(), R"(
out-of-bounds certain, fatal
  client → server, QP 0x000011
  the access is outside of the region.
  frame 1: RC RDMA WRITE Only  PSN 0x000064  va 0xffffffffffffffc1 rkey 0x00000300, 64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Remote Access Error
  server: memory 0x1000 + 4096 B  rkey 0x00000300  local_write remote_write
)");
}

TEST_F(Refusal, of_a_region_of_another_protection_domain) {
    connect();
    region("server", start, 4096, key, rights, 2);
    refuse();
    EXPECT_EQ(causes(), R"(
other-pd certain, fatal
  client → server, QP 0x000011
  the region with rkey 0x00000300 is in protection domain 2, and the queue pair in 1.
  frame 1: RC RDMA WRITE Only  PSN 0x000064  va 0x1000 rkey 0x00000300, 64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Remote Access Error
  server: memory 0x1000 + 4096 B  rkey 0x00000300  local_write remote_write
)");
}

TEST_F(Refusal, of_a_region_without_the_right) {
    connect();
    region("server", start, 4096, key, "local_write remote_read");
    refuse();
    EXPECT_EQ(causes(), R"(
missing-access-right certain, fatal
  client → server, QP 0x000011
  the region with rkey 0x00000300 does not allow remote_write.
  frame 1: RC RDMA WRITE Only  PSN 0x000064  va 0x1000 rkey 0x00000300, 64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Remote Access Error
  server: memory 0x1000 + 4096 B  rkey 0x00000300  local_write remote_read
)");
}

// Soft-RoCE gives rkey 0 to such a region.
TEST_F(Refusal, of_a_region_without_any_remote_right) {
    connect();
    region("server", start, 4096, 0, "local_write");
    refuse(start, 0);
    EXPECT_EQ(causes(), R"(
missing-access-right certain, fatal
  client → server, QP 0x000011
  the region at this address does not allow remote_write: it has no remote rights, and therefore rkey 0.
  frame 1: RC RDMA WRITE Only  PSN 0x000064  va 0x1000 rkey 0x00000000, 64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Remote Access Error
  server: memory 0x1000 + 4096 B  rkey 0x00000000  local_write
)");
}

TEST_F(Refusal, of_a_region_that_was_deregistered) {
    capture_at_server();
    connect();
    region("server", start, 4096, key, rights);
    log("server", R"("event":"destroyed","what":"mr","va":4096,"lkey":7,"rkey":768)");
    refuse();
    EXPECT_EQ(causes(), R"(
deregistered certain, fatal
  client → server, QP 0x000011
  the region with rkey 0x00000300 was deregistered or invalidated before the request arrived.
  frame 1: RC RDMA WRITE Only  PSN 0x000064  va 0x1000 rkey 0x00000300, 64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Remote Access Error
  server: memory 0x1000 + 4096 B  rkey 0x00000300  local_write remote_write
  server log: the region was deregistered or invalidated
)");
}

TEST_F(Refusal, by_a_queue_pair_without_the_right_shows_both_ends) {
    Pair reader = server();
    reader.access = "remote_read";
    connect(client(), reader);
    region("server", start, 4096, key, rights);
    refuse();
    EXPECT_EQ(causes(), R"(
missing-access-right certain, fatal
  client → server, QP 0x000011
  the server's queue pair 0x000011 does not allow remote_write.
  frame 1: RC RDMA WRITE Only  PSN 0x000064  va 0x1000 rkey 0x00000300, 64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Remote Access Error
  server: access of the queue pair: remote_read
)");
}

TEST_F(Refusal, for_no_visible_reason_shows_the_region_that_fits) {
    connect();
    region("server", start, 64, key, rights);
    refuse();
    EXPECT_EQ(causes(), R"(
remote-access likely, fatal
  client → server, QP 0x000011
  the responder refused the access, although its log has a region that fits.
  frame 1: RC RDMA WRITE Only  PSN 0x000064  va 0x1000 rkey 0x00000300, 64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Remote Access Error
  server: memory 0x1000 + 64 B  rkey 0x00000300  local_write remote_write
)");
}

TEST_F(Refusal, of_a_region_that_went_later_at_the_same_host_has_no_visible_reason) {
    capture_at_server();
    connect();
    region("server", start, 64, key, rights);
    refuse();
    wait(2 * ms);
    log("server", R"("event":"destroyed","what":"mr","va":4096,"lkey":7,"rkey":768)");
    EXPECT_EQ(answered(), "remote-access likely");
}

// A log entry may be 2 ms late at the same host, and the clocks of two hosts 200 ms apart.
TEST_F(Refusal, of_a_region_that_went_at_the_latest_time_possible) {
    capture_at_server();
    connect();
    region("server", start, 64, key, rights);
    refuse();
    wait(2 * ms - 1000);
    log("server", R"("event":"destroyed","what":"mr","va":4096,"lkey":7,"rkey":768)");
    EXPECT_EQ(answered(), "deregistered certain");
}

class RefusalByAnotherClock : public Refusal,
                              public testing::WithParamInterface<std::pair<int, const char*>> {};

TEST_P(RefusalByAnotherClock, of_a_region_that_went_before) {
    connect();
    region("server", start, 64, key, rights);
    log("server", R"("event":"destroyed","what":"mr","va":4096,"lkey":7,"rkey":768)");
    wait(200 * ms - 2000 + GetParam().first);
    refuse();
    EXPECT_EQ(answered(), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(All, RefusalByAnotherClock,
                         testing::Values(std::pair(0, "deregistered certain"),
                                         std::pair(-1, "deregistered possible")));

// The program itself chose the rkey of a memory window, and the log does not have it.
TEST_F(Refusal, of_an_unknown_rkey_that_was_right_before) {
    connect();
    region("server", start, 4096, key + 1, rights);
    write(99, start, key, 64);
    ack(99);
    refuse();
    EXPECT_EQ(answered(), "deregistered likely");
}

TEST_F(Refusal, without_a_log_of_the_responder_says_which_facts_are_missing) {
    refuse();
    EXPECT_EQ(causes(), R"(
remote-access certain, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  the responder refused the access to its memory. Only its run log shows which of rkey, bounds, rights, registration and protection domain is wrong.
  frame 1: RC RDMA WRITE Only  PSN 0x000064  va 0x1000 rkey 0x00000300, 64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Remote Access Error
)");
}

TEST_F(Refusal, of_an_rkey_that_the_requester_was_not_told) {
    only_the_client();
    told(start, 4096, key + 1);
    told(start, 4096, key + 2);
    told(start, 4096, key, "observer");
    refuse();
    EXPECT_EQ(causes(), R"(
wrong-rkey likely, fatal
  client → 192.0.2.1, QP 0x000011
  rkey 0x00000300 is not one of those that the client received.
  frame 1: RC RDMA WRITE Only  PSN 0x000064  va 0x1000 rkey 0x00000300, 64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Remote Access Error
  client: received rkey 0x00000302
)");
}

TEST_F(Refusal, of_more_memory_than_the_requester_was_told) {
    only_the_client();
    told(start, 63, key);
    refuse();
    EXPECT_EQ(causes(), R"(
out-of-bounds likely, fatal
  client → 192.0.2.1, QP 0x000011
  the access ends 1 byte past the end of the region.
  frame 1: RC RDMA WRITE Only  PSN 0x000064  va 0x1000 rkey 0x00000300, 64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Remote Access Error
  client: received memory 0x1000 + 63 B
)");
}

TEST_F(Refusal, of_the_memory_that_the_requester_was_told) {
    only_the_client();
    told(start, 64, key);
    told(start, 4096, 0);
    refuse();
    EXPECT_EQ(answered(), "remote-access certain");
}

// A peer without memory announces the rkey 0.
TEST_F(Refusal, is_not_compared_with_an_rkey_of_zero) {
    only_the_client();
    told(0, 0, 0);
    refuse();
    EXPECT_EQ(answered(), "remote-access certain");
}

}  // namespace explain_test
