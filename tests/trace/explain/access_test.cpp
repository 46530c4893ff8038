// The reason for which a responder refused an access.
#include "trace/explain/scene.hpp"

namespace explain_test {

constexpr std::uint8_t invalid_request = 0x61;
constexpr std::uint64_t va = 0x1000;
constexpr std::uint32_t rkey = 0x300;

class RefusedAccess : public Scene {
  protected:
    void refuse(std::uint64_t at, std::uint32_t key, std::uint32_t length) {
        posts_write(100, at, key, length);
        request_ = write(100, at, key, length);
        nak_ = nak(100, syndrome::access_error);
        completes("REM_ACCESS_ERR");
    }
    std::uint64_t request_ = 0;
    std::uint64_t nak_ = 0;
};

TEST_F(RefusedAccess, with_an_rkey_that_nobody_gave) {
    connect();
    region("server", va, 4096, rkey, "local_write remote_write");
    refuse(va, rkey + 1, 64);
    EXPECT_EQ(answered(), "wrong-rkey certain");
    EXPECT_TRUE(first().is_fatal);
    EXPECT_TRUE(shows_frame(request_));
    EXPECT_TRUE(shows_frame(nak_));
}

TEST_F(RefusedAccess, behind_the_end_of_the_region) {
    connect();
    region("server", va, 4096, rkey, "local_write remote_write");
    refuse(va + 4096 - 63, rkey, 64);
    EXPECT_EQ(answered(), "out-of-bounds certain");
    EXPECT_NE(first().text.find("1 byte past the end"), std::string::npos) << first().text;
}

TEST_F(RefusedAccess, before_the_region) {
    connect();
    region("server", va, 4096, rkey, "local_write remote_write");
    refuse(va - 8, rkey, 64);
    EXPECT_EQ(answered(), "out-of-bounds certain");
}

TEST_F(RefusedAccess, without_the_right_of_the_region) {
    connect();
    region("server", va, 4096, rkey, "local_write remote_read");
    refuse(va, rkey, 64);
    EXPECT_EQ(answered(), "missing-access-right certain");
}

TEST_F(RefusedAccess, without_the_right_of_the_queue_pair) {
    Pair reads = server();
    reads.access = "remote_read";
    connect(client(), reads);
    region("server", va, 4096, rkey, "local_write remote_write");
    posts_write(100, va, rkey, 64);
    write(100, va, rkey, 64);
    nak(100, invalid_request);
    completes("REM_INV_REQ_ERR");
    EXPECT_EQ(answered(), "missing-access-right certain");
}

TEST_F(RefusedAccess, to_a_region_that_is_gone) {
    capture_at_server();
    connect();
    region("server", va, 4096, rkey, "local_write remote_write");
    log("server", R"("event":"destroyed","what":"mr","va":4096,"lkey":7,"rkey":768)");
    refuse(va, rkey, 64);
    EXPECT_EQ(answered(), "deregistered certain");
}

// The event is later, but the clocks of the two hosts may differ.
TEST_F(RefusedAccess, to_a_region_that_is_gone_by_another_hosts_clock) {
    connect();
    region("server", va, 4096, rkey, "local_write remote_write");
    refuse(va, rkey, 64);
    log("server", R"("event":"destroyed","what":"mr","va":4096,"lkey":7,"rkey":768)");
    EXPECT_EQ(answered(), "deregistered possible");
}

TEST_F(RefusedAccess, to_a_region_that_went_later_is_not_explained_by_that) {
    capture_at_server();
    connect();
    region("server", va, 4096, rkey, "local_write remote_read");
    refuse(va, rkey, 64);
    wait(10 * ms);
    log("server", R"("event":"destroyed","what":"mr","va":4096,"lkey":7,"rkey":768)");
    EXPECT_EQ(answered(), "missing-access-right certain");
}

TEST_F(RefusedAccess, to_a_region_that_was_invalidated) {
    capture_at_server();
    connect();
    region("server", va, 4096, rkey, "local_write remote_write");
    log("server",
        R"("event":"post_send","qpn":17,"wr_id":9,"opcode":"LOCAL_INV","len":0,"invalidates":768)");
    refuse(va, rkey, 64);
    EXPECT_EQ(answered(), "deregistered certain");
}

TEST_F(RefusedAccess, to_a_region_of_another_protection_domain) {
    connect();
    region("server", va, 4096, rkey, "local_write remote_write", 2);
    refuse(va, rkey, 64);
    EXPECT_EQ(answered(), "other-pd certain");
}

TEST_F(RefusedAccess, is_not_explained_further_without_the_responders_log) {
    make("client", client());
    ready("client", client());
    refuse(va, rkey, 64);
    EXPECT_EQ(answered(), "remote-access certain");
}

TEST_F(RefusedAccess, is_compared_with_what_the_requester_was_told) {
    make("client", client());
    ready("client", client());
    log("client",
        R"("event":"exchange","direction":"received","channel":"TCP","va":4096,"len":4096,"rkey":768)");
    refuse(va, rkey + 1, 64);
    EXPECT_EQ(answered(), "wrong-rkey likely");
}

TEST_F(RefusedAccess, is_seen_without_any_log) {
    write(100, va, rkey, 64);
    nak(100, syndrome::access_error);
    EXPECT_EQ(answered(), "remote-access certain");
    EXPECT_TRUE(last_.has_failed);
}

TEST_F(RefusedAccess, is_seen_without_a_capture) {
    connect();
    region("server", va, 4096, rkey, "local_write remote_write");
    posts_write(100, va, rkey + 1, 64);
    completes("REM_ACCESS_ERR");
    EXPECT_EQ(answered(), "wrong-rkey certain");
}

// Two connections between queue pairs with the same numbers.
TEST_F(RefusedAccess, is_not_excused_by_a_later_connection) {
    connect();
    region("server", va, 4096, rkey, "local_write remote_write");
    posts_write(100, va, rkey + 1, 64);
    completes("REM_ACCESS_ERR");
    log("client", R"("event":"destroyed","what":"qp","qpn":33)");
    log("server", R"("event":"destroyed","what":"qp","qpn":17)");
    connect();
    posts_write(100, va, rkey, 64);
    completes("SUCCESS");
    EXPECT_EQ(answered(), "wrong-rkey certain");
    EXPECT_TRUE(first().is_fatal);
}

TEST_F(RefusedAccess, of_a_log_that_lacks_events_is_not_explained_by_it) {
    connect();
    log("server", R"("event":"dropped","records":12)");
    refuse(va, rkey, 64);
    EXPECT_EQ(answered(), "remote-access certain");
}

// As after a rotation of the log, or in one that tail(1) wrote.
TEST_F(RefusedAccess, of_a_log_without_its_beginning_is_not_explained_by_what_it_lacks) {
    make("client", client());
    ready("client", client());
    ready("server", server());
    region("server", va, 4096, rkey + 1, "local_write remote_write");
    refuse(va, rkey, 64);
    EXPECT_EQ(answered(), "remote-access certain");
    EXPECT_NE(first().text.find("and the log of the server lacks its beginning."),
              std::string::npos)
        << first().text;
}

TEST_F(RefusedAccess, of_a_log_without_its_beginning_is_explained_by_what_it_has) {
    log("server", R"("event":"destroyed","what":"pd","handle":9)");
    connect();
    region("server", va, 32, rkey, "local_write remote_write");
    refuse(va, rkey, 64);
    EXPECT_EQ(answered(), "out-of-bounds certain");
}

// The queue pair's protection domain and rights are not known.
TEST_F(RefusedAccess, of_a_log_without_the_making_of_its_queue_pair_is_not_certain) {
    make("client", client());
    ready("client", client());
    ready("server", server());
    region("server", va, 32, rkey, "local_write remote_write");
    refuse(va, rkey, 64);
    EXPECT_EQ(answered(), "out-of-bounds likely");
}

TEST_F(RefusedAccess, is_not_mistaken_for_one_that_was_granted) {
    connect();
    region("server", va, 4096, rkey, "local_write remote_write");
    posts_write(100, va, rkey, 64);
    write(100, va, rkey, 64);
    ack(100);
    completes("SUCCESS");
    EXPECT_EQ(answered(), "none");
}

TEST_F(RefusedAccess, as_invalid_may_be_a_read_too_many) {
    connect();
    for (std::uint32_t i = 0; i < 3; ++i)
        add(read(to_server, 100 + i, 8));
    nak(101, invalid_request);
    EXPECT_EQ(answered(), "read-depth certain");
}

TEST_F(RefusedAccess, as_invalid_may_be_a_message_too_long) {
    connect();
    log("server", R"("event":"post_recv","qpn":17,"wr_id":1,"len":16)");
    posts_send(100, 64);
    send(100, 64);
    nak(100, invalid_request);
    completes("REM_INV_REQ_ERR");
    EXPECT_EQ(answered(), "receive-too-small certain");
    EXPECT_NE(first().text.find("64 bytes does not fit into the posted receive of 16"),
              std::string::npos);
}

TEST_F(RefusedAccess, as_invalid_for_no_reason_that_is_known_stays_unknown) {
    connect();
    log("server", R"("event":"post_recv","qpn":17,"wr_id":1,"len":128)");
    posts_send(100, 64);
    send(100, 64);
    nak(100, invalid_request);
    completes("REM_INV_REQ_ERR");
    EXPECT_EQ(answered(), "unknown");
}

}  // namespace explain_test
