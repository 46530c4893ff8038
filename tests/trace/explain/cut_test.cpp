// Captures with a small snap length: what explanations do without the headers that it cut off.
#include "trace/explain/account.hpp"

namespace explain_test {

class Cut : public Account {
  protected:
    static constexpr std::size_t to_bth = 54;   // Ethernet, IPv4, UDP, BTH
    static constexpr std::size_t to_aeth = 58;  // a RETH needs 70, a DETH 62
    static constexpr std::uint64_t va = 0x1000;
    static constexpr std::uint32_t rkey = 0x300;

    std::uint64_t cut_write(std::uint32_t psn, std::size_t captured = to_aeth) {
        auto made = packet(to_server, opcode::write_only, psn, 64);
        made.bth->a = true;
        made.reth = wire::Reth{.va = va, .rkey = rkey, .dmalen = 64};
        return add(wire::encode(made), captured);
    }
    std::uint64_t cut_send(std::uint32_t psn) {
        auto made = packet(to_server, opcode::send_only, psn, 8);
        made.bth->a = true;
        return add(wire::encode(made), to_bth);
    }
    std::uint64_t cut_answer(std::uint32_t psn, std::uint8_t syndrome = syndrome::ack) {
        return add(wire::encode(answer(to_client, psn, syndrome)), to_bth);
    }
    bool has(explain::Code code) {
        return std::ranges::any_of(last_.causes,
                                   [&](const explain::Cause& one) { return one.code == code; });
    }
};

TEST_F(Cut, acknowledgements_and_requests) {
    cut_write(100);
    cut_answer(100);
    cut_write(101);
    cut_answer(101);
    EXPECT_EQ(causes(), R"(
cut-capture certain
  the capture cut off headers of 2 acknowledgements (an ACK looks like a NAK), and of 2 packets with data or a request (rkeys, addresses and lengths are missing).
  frame 2: RC Acknowledge  PSN 0x000064  (rest not captured)
  frame 1: RC RDMA WRITE Only  PSN 0x000064  (rest not captured)
)");
}

TEST_F(Cut, messages_of_the_manager_are_no_datagrams_to_a_queue_pair) {
    make_datagram_pair("server", 1, 0x11);
    Way way = to_server;
    way.qpn = wire::gsi_qpn;
    auto made = datagram(way, wire::gsi_qpn, 7);
    const auto mad = connect_request({.comm_id = 1, .qpn = 0x21, .psn = 100}, 3);
    made.payload = mad;
    const auto frame = wire::encode(made);
    for (const std::size_t captured : {to_bth, std::size_t{64}, std::size_t{128}})
        add(frame, captured);
    EXPECT_EQ(causes(), R"(
cut-capture certain
  the capture cut off headers of 3 messages of the connection manager (PSNs and IDs are missing).
  frame 1: message of the connection manager
)");
}

TEST_F(Cut, rkey_is_that_of_the_log) {
    connect();
    region("server", va, 4096, rkey, "local_write remote_read");
    posts_write(100, va, rkey, 64);
    cut_write(100);
    nak(100, syndrome::access_error);
    completes("REM_ACCESS_ERR");
    EXPECT_EQ(answered(), "missing-access-right certain");
    EXPECT_TRUE(has(explain::Code::CutCapture));
}

TEST_F(Cut, rkey_without_the_requesters_log_is_unknown) {
    make("server", server());
    ready("server", server());
    region("server", va, 4096, rkey, "local_write remote_read");
    cut_write(99);
    ack(99);
    cut_write(100);
    nak(100, syndrome::access_error);
    EXPECT_EQ(answered(), "remote-access certain");
    EXPECT_EQ(first().text,
              "the responder refused the access to its memory, and the capture cut off the "
              "request's rkey and address.");
}

TEST_F(Cut, acknowledgements_leave_only_possible_causes) {
    for (std::uint32_t psn = 100; psn < 110; ++psn) {
        cut_send(psn);
        cut_answer(psn, syndrome::rnr);
        wait(2 * ms);
        cut_send(psn);
        cut_answer(psn);
    }
    last_ = explained();
    EXPECT_TRUE(has(explain::Code::CutCapture));
    EXPECT_GT(last_.causes.size(), 1U);
    for (const explain::Cause& one : last_.causes)
        EXPECT_TRUE(one.code == explain::Code::CutCapture ||
                    one.certainty == explain::Certainty::Possible)
            << name(one.code);
}

TEST_F(Cut, q_key_is_not_another_one) {
    make_datagram_pair("server", 1, 0x11, R"(,"q_key":286331154)");
    add(wire::encode(datagram({.from = 2, .to = 1, .qpn = 0x11}, 0x21, 1)), to_aeth);
    answered();
    EXPECT_FALSE(has(explain::Code::WrongQKey));
}

}  // namespace explain_test
