// Responders that stop responding because their completion queue is full.
#include "trace/explain/account.hpp"

namespace explain_test {

// Two messages arrived, and the completion queue has entries for one or two.
class FullResponder : public Account {
  protected:
    void run(int entries, int polled, const auto& arrive) {
        connect();
        set_entries("server", entries);
        arrive();
        for (int i = 0; i < polled; ++i)
            receive_completes("SUCCESS");
        repeat(102);
    }
    void arrive() {
        for (const std::uint32_t psn : {100U, 101U, 101U})
            send(psn);
        ack(101);
    }
};

TEST_F(FullResponder, stops_responding) {
    run(2, 0, [this] { arrive(); });
    EXPECT_EQ(causes(), R"(
cq-overrun likely, fatal
  client → server, QP 0x000011
  2 messages had arrived and 0 completions had been polled when the server's queue pair 0x000011 stopped responding: its completion queue has 2 entries.
  frame 5: RC SEND Only  PSN 0x000066  8 B
  frame 7: RC SEND Only  PSN 0x000066  8 B  (copy 3)
  frame 4: RC Acknowledge  PSN 0x000065  ACK, no flow control by credits
  server: completion queue 1 with 2 entries
)");
}

TEST_F(FullResponder, had_polled_some) {
    run(1, 1, [this] { arrive(); });
    EXPECT_EQ(answered(), "cq-overrun likely");
}

TEST_F(FullResponder, is_not_full_if_enough_was_polled) {
    run(1, 2, [this] { arrive(); });
    EXPECT_EQ(answered(), "path-broken likely");
}

TEST_F(FullResponder, is_not_full_with_an_entry_left) {
    run(3, 0, [this] { arrive(); });
    EXPECT_EQ(answered(), "path-broken likely");
}

TEST_F(FullResponder, is_not_judged_without_the_size_of_its_queue) {
    run(0, 0, [this] { arrive(); });
    EXPECT_EQ(answered(), "path-broken likely");
}

TEST_F(FullResponder, polls_after_it_stopped) {
    connect();
    set_entries("server", 2);
    arrive();
    repeat(102);
    receive_completes("SUCCESS");
    EXPECT_EQ(answered(), "cq-overrun likely");
}

// Only the last packet of a message completes a receive, and a WRITE without immediate data none.
TEST_F(FullResponder, is_not_full_of_packets_that_complete_no_receive) {
    run(2, 0, [this] {
        write(100, 0x1000, 1, 8);
        add(packet(to_server, opcode::send_first, 101, 1024));
        ack(101);
    });
    EXPECT_EQ(answered(), "path-broken likely");
}

TEST_F(FullResponder, is_full_of_writes_with_immediate_data) {
    run(2, 0, [this] {
        for (const std::uint32_t psn : {100U, 101U}) {
            auto made = packet(to_server, 0x0b, psn, 8);
            made.reth = wire::Reth{.va = 0x1000, .rkey = 1, .dmalen = 8};
            made.immdt = wire::ImmDt{};
            add(made);
        }
        ack(101);
    });
    EXPECT_EQ(answered(), "cq-overrun likely");
}

// The explainer with a limit has forgotten most of them.
TEST_F(FullResponder, is_full_of_many_messages) {
    connect();
    set_entries("server", 500);
    for (std::uint32_t psn = 100; psn < 600; ++psn) {
        send(psn);
        ack(psn);
    }
    repeat(600);
    EXPECT_EQ(answered(), "cq-overrun likely");
}

// Neither queue pair filled the completion queue alone.
TEST_F(FullResponder, shares_its_queue_with_another_queue_pair) {
    connect();
    Pair second = server(), peer = client();
    second.qpn = peer.dest_qpn = 0x12;
    second.dest_qpn = peer.qpn = 0x22;
    second.rq_psn = peer.sq_psn = 700;
    connect(peer, second);
    set_entries("server", 3);
    for (const std::uint32_t psn : {100U, 101U}) {
        send(psn);
        auto made = packet({.from = 2, .to = 1, .qpn = 0x12}, opcode::send_only, psn + 600, 8);
        made.bth->a = true;
        add(made);
    }
    ack(101);
    add(answer({.from = 1, .to = 2, .qpn = 0x22}, 701));
    repeat(102);
    EXPECT_EQ(answered(), "cq-overrun likely");
    EXPECT_EQ(first().text,
              "4 messages for 2 queue pairs had arrived and 0 completions had been polled when the "
              "server's queue pair 0x000011 stopped responding: its completion queue has 3 "
              "entries.");
}

}  // namespace explain_test
