// Messages that a responder refuses, and the receives for them.
#include "trace/explain/account.hpp"

namespace explain_test {

class RefusedMessage : public Account {
  protected:
    static constexpr std::uint8_t invalid = 0x61;
    static constexpr std::uint8_t operational = 0x63;

    void refuse_message(std::uint64_t length, std::uint8_t code = invalid) {
        send(100, length);
        nak(100, code);
    }
};

TEST_F(RefusedMessage, with_an_access_error_concerns_its_receive) {
    connect();
    server_posts_receive(128);
    receive_completes("LOC_PROT_ERR");
    refuse_message(64, syndrome::access_error);
    EXPECT_EQ(causes(), R"(
local-protection certain, fatal
  client → server, QP 0x000011
  the server could not write the message into its receive buffer, although the buffer is long enough.
  frame 1: RC SEND Only  PSN 0x000064  64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Remote Access Error
  server log: wc  wr 5 LOC_PROT_ERR (receive)
)");
}

TEST_F(RefusedMessage, whose_receive_failed_with_another_error) {
    connect();
    server_posts_receive(64);
    receive_completes("GENERAL_ERR");
    refuse_message(64, operational);
    EXPECT_EQ(causes(), R"(
local-protection likely, fatal
  client → server, QP 0x000011
  the server could not write the message into its receive buffer, although the buffer is long enough.
  frame 1: RC SEND Only  PSN 0x000064  64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Remote Operational Error
  server log: wc  wr 5 GENERAL_ERR (receive)
)");
}

TEST_F(RefusedMessage, whose_receive_is_unknown_and_failed_with_another_error) {
    connect();
    receive_completes("GENERAL_ERR");
    refuse_message(64, operational);
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(RefusedMessage, whose_receive_did_not_fail) {
    connect();
    server_posts_receive(64);
    refuse_message(64, operational);
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(RefusedMessage, that_failed_at_an_unknown_responder) {
    refuse_message(64, operational);
    EXPECT_EQ(answered(), "receive-too-small possible");
    EXPECT_EQ(first().open, std::vector{explain::Code::LocalProtection});
}

// Its receive holds no data.
TEST_F(RefusedMessage, is_no_write_with_immediate_data) {
    connect();
    server_posts_receive(0);
    auto made = packet(to_server, 0x0b, 100, 64);
    made.reth = wire::Reth{.va = 0x1000, .rkey = 1, .dmalen = 64};
    made.immdt = wire::ImmDt{};
    add(made);
    nak(100, invalid);
    EXPECT_EQ(answered(), "unknown");
}

// The first packets of another sequence of PSNs are refused as invalid.
TEST_F(RefusedMessage, with_a_psn_that_the_responder_does_not_expect) {
    send(0x400000, 64);
    ack(0xffffff);
    send(0x400001, 64);
    nak(0x400001, invalid);
    EXPECT_EQ(answered(), "wrong-psn likely");
    EXPECT_EQ(last_.causes.size(), 1U);
}

TEST_F(RefusedMessage, of_packets_larger_than_any_before_may_exceed_the_path_mtu) {
    add(packet(to_server, opcode::send_first, 100, 1024));
    nak(100, invalid);
    EXPECT_EQ(answered(), "receive-too-small possible");
    EXPECT_EQ(first().open, std::vector{explain::Code::PathMtuMismatch});
}

TEST_F(RefusedMessage, is_no_write) {
    connect();
    server_posts_receive(16);
    receive_completes("GENERAL_ERR");
    write(100, 0x1000, 0x300, 64);
    nak(100, operational);
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(RefusedMessage, that_is_longer_than_its_receive) {
    connect();
    server_posts_receive(64);
    server_posts_receive(63);
    receive_completes("LOC_LEN_ERR", R"(,"request":1)");
    refuse_message(64, operational);
    EXPECT_EQ(causes(), R"(
receive-too-small certain, fatal
  client → server, QP 0x000011
  a message of 64 bytes does not fit into the posted receive of 63 bytes.
  frame 1: RC SEND Only  PSN 0x000064  64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Remote Operational Error
  server log: wc  wr 5 LOC_LEN_ERR (receive)
)");
}

// The first receive has completed, and the message takes the second one.
TEST_F(RefusedMessage, is_compared_with_the_receive_after_the_completed_ones) {
    connect();
    server_posts_receive(16);
    server_posts_receive(32);
    receive_completes("SUCCESS");
    refuse_message(64);
    EXPECT_EQ(causes(), R"(
receive-too-small certain, fatal
  client → server, QP 0x000011
  a message of 64 bytes does not fit into the posted receive of 32 bytes.
  frame 1: RC SEND Only  PSN 0x000064  64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Invalid Request
)");
}

TEST_F(RefusedMessage, that_fits_its_receive) {
    connect();
    server_posts_receive(64);
    refuse_message(64);
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(RefusedMessage, for_a_shared_receive_queue_is_not_compared) {
    log("server", R"("event":"device","device":"rxe0","gid_index":1,"gid":")" + gid(1) + '"');
    log("server", R"("event":"qp","qpn":17,"type":"RC","srq":4)");
    ready("server", server());
    server_posts_receive(16);
    refuse_message(64);
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(RefusedMessage, without_any_log) {
    refuse_message(64);
    EXPECT_EQ(causes(), R"(
receive-too-small likely, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  the responder refused a message of 64 bytes: the posted receive is probably shorter.
  frame 1: RC SEND Only  PSN 0x000064  64 B
  frame 2: RC Acknowledge  PSN 0x000064  NAK: Invalid Request
)");
}

TEST_F(RefusedMessage, to_a_queue_pair_that_the_log_lacks) {
    log("server", R"("event":"device","device":"rxe0","gid_index":1,"gid":")" + gid(1) + '"');
    log("server", R"("event":"dropped","records":12)");
    refuse_message(64);
    EXPECT_EQ(answered(), "unknown");
}

// explain_set_up() explains a packet that is larger than the path MTU.
TEST_F(RefusedMessage, of_a_packet_larger_than_the_path_mtu_does_not_concern_a_receive) {
    Pair small = server();
    small.path_mtu = 256;
    connect(client(), small);
    server_posts_receive(16);
    refuse_message(257);
    EXPECT_EQ(answered(), "path-mtu-mismatch certain");
    EXPECT_EQ(last_.causes.size(), 1U);
}

TEST_F(RefusedMessage, of_a_packet_of_the_path_mtu_concerns_its_receive) {
    Pair small = server();
    small.path_mtu = 256;
    connect(client(), small);
    server_posts_receive(16);
    refuse_message(256);
    answered();
    EXPECT_TRUE(std::ranges::any_of(last_.causes, [](const explain::Cause& one) {
        return one.code == explain::Code::ReceiveTooSmall;
    }));
}

// Without the log of the responder, the request itself has candidates.
class InvalidRequest : public RefusedMessage {
  protected:
    void refuse_atomic(std::uint64_t at) {
        auto made = packet(to_server, opcode::fetch_add, 100);
        made.atomic_eth = wire::AtomicEth{.va = at, .rkey = 1, .swapdt = 1, .cmpdt = 0};
        add(made);
        nak(100, invalid);
    }
    void first_of_write(std::uint32_t psn, std::size_t size) {
        auto made = packet(to_server, opcode::write_first, psn, size);
        made.reth = wire::Reth{.va = 0x1000, .rkey = 1, .dmalen = 10'000};
        add(made);
    }
};

TEST_F(InvalidRequest, with_an_address_that_an_atomic_cannot_have) {
    refuse_atomic(0x1004);
    EXPECT_EQ(answered(), "misaligned-address certain");
}

TEST_F(InvalidRequest, that_is_the_first_atomic) {
    refuse_atomic(0x1008);
    EXPECT_EQ(answered(), "missing-access-right possible");
    EXPECT_EQ(first().open, std::vector{explain::Code::ReadDepth});
}

TEST_F(InvalidRequest, that_is_the_first_atomic_after_a_read) {
    add(read(to_server, 99, 8));
    refuse_atomic(0x1008);
    EXPECT_EQ(answered(), "read-depth possible");
}

TEST_F(InvalidRequest, that_is_the_first_atomic_after_a_completed_read) {
    add(read(to_server, 99, 8));
    add(packet(to_client, opcode::read_only, 99, 8));
    refuse_atomic(0x1008);
    EXPECT_EQ(answered(), "missing-access-right possible");
    EXPECT_TRUE(first().open.empty());
}

TEST_F(InvalidRequest, that_is_the_first_write_with_larger_packets_than_any_before) {
    first_of_write(100, 1024);
    nak(100, invalid);
    EXPECT_EQ(answered(), "missing-access-right possible");
    EXPECT_EQ(first().open, std::vector{explain::Code::PathMtuMismatch});
}

TEST_F(InvalidRequest, that_is_larger_than_the_responders_own_packets) {
    first_of_write(100, 1024);
    add(packet(to_client, opcode::send_first, 500, 256));
    nak(100, invalid);
    EXPECT_EQ(answered(), "path-mtu-mismatch possible");
}

// A message of one packet may be shorter than the path MTU.
TEST_F(InvalidRequest, that_is_larger_than_a_message_of_the_responder) {
    first_of_write(100, 1024);
    add(packet(to_client, opcode::send_only, 500, 256));
    nak(100, invalid);
    EXPECT_EQ(answered(), "missing-access-right possible");
    EXPECT_EQ(first().open, std::vector{explain::Code::PathMtuMismatch});
}

TEST_F(InvalidRequest, that_is_the_first_one_and_has_unusually_large_packets) {
    first_of_write(100, 1025);
    nak(100, invalid);
    EXPECT_EQ(answered(), "path-mtu-mismatch possible");
    EXPECT_EQ(first().open, std::vector{explain::Code::MissingAccessRight});
}

TEST_F(InvalidRequest, with_larger_packets_than_any_before) {
    write(99, 0x1000, 1, 1024);
    first_of_write(100, 4096);
    nak(100, invalid);
    EXPECT_EQ(answered(), "path-mtu-mismatch possible");
    EXPECT_TRUE(first().open.empty());
}

TEST_F(InvalidRequest, with_packets_of_a_size_that_was_accepted) {
    write(99, 0x1000, 1, 4096);
    first_of_write(100, 4096);
    nak(100, invalid);
    EXPECT_EQ(answered(), "unknown");
}

TEST_F(InvalidRequest, that_is_the_first_write) {
    write(100, 0x1000, 1, 64);
    nak(100, invalid);
    EXPECT_EQ(answered(), "missing-access-right possible");
}

// {earlier request, refused one, cause, whether more than one cause fits}. There is no capture.
class LoggedInvalid
    : public InvalidRequest,
      public testing::WithParamInterface<std::tuple<const char*, const char*, const char*, bool>> {
};

TEST_P(LoggedInvalid, request_is_compared_with_those_that_had_completed) {
    const auto& [before, refused, expected, is_open] = GetParam();
    make("client", client());
    ready("client", client());
    int number = 0;
    const auto request = [&](const char* operation, std::string_view status) {
        posts(operation, 8, fmt::format(R"(,"remote_va":4096,"rkey":1,"request":{})", number));
        log("client", fmt::format(R"("event":"wc","qpn":33,"wr_id":1,"queue":"send",)"
                                  R"("request":{},"status":"{}")",
                                  number++, status));
    };
    if (*before != 0)
        request(before, "SUCCESS");
    request(refused, "REM_INV_REQ_ERR");
    EXPECT_EQ(answered(), expected);
    EXPECT_EQ(!last_.causes.empty() && !first().open.empty(), is_open);
}

INSTANTIATE_TEST_SUITE_P(
    All, LoggedInvalid,
    testing::Values(std::tuple("", "RDMA_READ", "missing-access-right possible", true),
                    std::tuple("RDMA_WRITE", "RDMA_READ", "missing-access-right possible", true),
                    std::tuple("ATOMIC_FETCH_AND_ADD", "RDMA_READ", "missing-access-right possible",
                               false),
                    std::tuple("RDMA_READ", "RDMA_READ", "unknown", false),
                    std::tuple("", "RDMA_WRITE", "unknown", false)));

class RefusedByShared : public RefusedMessage, public testing::WithParamInterface<int> {};

// Which receive of a shared queue the message took is unknown, but whether any has room for it is not.
TEST_P(RefusedByShared, receive_queue_names_the_longest_receive) {
    make("server", server());
    log("server", R"("event":"qp","qpn":17,"type":"RC","srq":3,"pd":1)");
    ready("server", server());
    log("server", R"("event":"post_recv","srq":3,"wr_id":1,"len":)" + std::to_string(GetParam()));
    refuse_message(64, operational);
    if (GetParam() >= 64) {
        EXPECT_EQ(answered(), "unknown");
        return;
    }
    EXPECT_EQ(answered(), "receive-too-small certain");
    EXPECT_EQ(first().text,
              "a message of 64 bytes does not fit into the longest receive posted to the shared "
              "receive queue, which has 32 bytes.");
}

INSTANTIATE_TEST_SUITE_P(All, RefusedByShared, testing::Values(32, 64));

}  // namespace explain_test
