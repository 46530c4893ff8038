// Packets with a wrong ICRC.
#include "trace/explain/account.hpp"

namespace explain_test {

class Damage : public Account {
  protected:
    void works(std::uint32_t psn) {
        send(psn);
        ack(psn);
    }
    std::uint64_t damaged(const wire::Packet& made) {
        auto frame = wire::encode(made);
        frame.back() ^= std::byte{0xff};
        return add(frame);
    }
};

TEST_F(Damage, of_a_request) {
    connect();
    works(100);
    damaged(packet(to_server, opcode::send_only, 101, 8));
    wait(67 * ms);
    works(101);
    EXPECT_EQ(causes(), R"(
corruption certain
  client → server, QP 0x000011
  1 of 5 packets have a wrong ICRC: something on the path changed them, and their receiver drops them.
  frame 3: RC SEND Only  PSN 0x000065  8 B  ICRC wrong
)");
}

TEST_F(Damage, of_a_response) {
    connect();
    works(100);
    send(101);
    damaged(answer(to_client, 101));
    wait(67 * ms - 2000);
    works(101);
    EXPECT_EQ(causes(), R"(
corruption certain, 67000 us
  client → server, QP 0x000011
  1 of 6 packets have a wrong ICRC: something on the path changed them, and their receiver drops them.
  frame 4: RC Acknowledge  PSN 0x000065  ACK, no flow control by credits  ICRC wrong
)");
}

TEST_F(Damage, shows_three_packets) {
    connect();
    for (std::uint32_t psn = 100; psn < 104; ++psn) {
        works(psn);
        damaged(packet(to_server, opcode::send_only, psn + 1, 8));
    }
    EXPECT_EQ(causes(), R"(
corruption certain
  client → server, QP 0x000011
  4 of 12 packets have a wrong ICRC: something on the path changed them, and their receiver drops them.
  frame 3: RC SEND Only  PSN 0x000065  8 B  ICRC wrong
  frame 6: RC SEND Only  PSN 0x000066  8 B  ICRC wrong
  frame 9: RC SEND Only  PSN 0x000067  8 B  ICRC wrong
)");
}

// A device that translates addresses keeps the ICRC: the link corrupts nothing.
TEST_F(Damage, by_a_translated_address) {
    works(100);
    works(101);
    auto frame = wire::encode(packet(to_server, opcode::send_only, 102, 8));
    frame[27] ^= std::byte{0x40};  // 192.64.2.2
    add(frame);
    EXPECT_EQ(causes(), R"(
wrong-icrc likely
  192.64.2.2 → 192.0.2.1, QP 0x000011
  1 of 1 packets have a wrong ICRC: right with source address 192.0.2.2 instead of 192.64.2.2: a device on the path may have rewritten it (NAT).
  frame 5: RC SEND Only  PSN 0x000066  8 B  ICRC wrong, right with source address 192.0.2.2
)");
    EXPECT_TRUE(
        first().try_this.starts_with("Exempt UDP port 4791 from the translation between "
                                     "192.0.2.2 and 192.64.2.2 (NAT)"))
        << first().try_this;
}

// Towards the server, and back: the receivers drop all packets.
TEST_F(Damage, by_translated_addresses_is_fatal_if_nothing_gets_through) {
    const auto translated = [&](const wire::Packet& made, std::size_t at) {
        auto frame = wire::encode(made);
        frame[at] ^= std::byte{0x40};  // 192.64.2.2 for 192.0.2.2
        add(frame);
    };
    works(90);
    for (int copy = 0; copy < 4; ++copy) {
        translated(packet({.from = 2, .to = 1, .qpn = 0x55}, opcode::send_only, 100, 8), 27);
        translated(packet({.from = 1, .to = 2, .qpn = 0x66}, opcode::send_only, 300, 8), 31);
        wait(67 * ms);
    }
    const std::string all = causes();
    EXPECT_NE(all.find("wrong-icrc likely, fatal\n  192.64.2.2 → 192.0.2.1, QP 0x000055\n"),
              std::string::npos)
        << all;
    EXPECT_NE(all.find("right with source address 192.0.2.2 instead of 192.64.2.2"),
              std::string::npos)
        << all;
    EXPECT_NE(all.find("right with destination address 192.0.2.2 instead of 192.64.2.2"),
              std::string::npos)
        << all;
}

TEST_F(Damage, by_a_rewritten_source_port_and_by_the_link) {
    connect();
    const auto with_port = [&](std::uint32_t psn) {
        auto frame = wire::encode(packet(to_server, opcode::send_only, psn, 8));
        frame[34] ^= std::byte{1};
        return add(frame);
    };
    for (std::uint32_t psn = 100; psn < 104; ++psn)
        works(psn);
    with_port(104);
    EXPECT_EQ(answered(), "wrong-icrc likely");
    with_port(105);
    damaged(packet(to_server, opcode::send_only, 106, 8));
    EXPECT_EQ(answered(), "corruption certain");
    ASSERT_EQ(last_.causes.size(), 2U);
    EXPECT_EQ(last_.causes[1].code, explain::Code::WrongIcrc);
}

TEST_F(Damage, is_fatal_if_the_requester_gives_up) {
    connect();
    works(100);
    damaged(packet(to_server, opcode::send_only, 101, 8));
    wait(67 * ms);
    repeat(101);
    answered();
    EXPECT_EQ(first().code, explain::Code::Corruption);
    EXPECT_TRUE(first().is_fatal);
}

// A mirror may rewrite the port of packets that their receiver gets as they were sent, and it responds.
TEST_F(Damage, by_rewritten_source_ports_counts_if_nobody_responds) {
    const auto with_port = [&](std::uint32_t psn) {
        auto frame = wire::encode(packet(to_server, opcode::send_only, psn, 8));
        frame[34] ^= std::byte{1};
        add(frame);
    };
    for (int copy = 0; copy < 4; ++copy) {
        with_port(100);
        wait(67 * ms);
    }
    EXPECT_EQ(answered(), "wrong-icrc likely");
    EXPECT_TRUE(first().is_fatal);
    EXPECT_NE(first().text.find("(NAT)"), std::string::npos) << first().text;
    ack(100);
    EXPECT_EQ(answered(), "none");
}

}  // namespace explain_test
