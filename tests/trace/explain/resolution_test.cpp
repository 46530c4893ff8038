// Addresses that nobody resolves, in the logs, in ARP and in neighbour discovery.
#include "trace/explain/account.hpp"
#include "wire/encapsulations.hpp"

namespace explain_test {

class Resolution : public Account {
  protected:
    static std::string address(int host) {
        return "c00002" + std::string(1, '0') + char('0' + host);
    }
    std::uint64_t asks(int from, int for_host) {
        return add(wire_test::in_ethernet(
            "0806", wire_test::from_hex("0001 0800 0604 0001 020000000000" + address(from) +
                                        "000000000000" + address(for_host))));
    }
    std::uint64_t replies(int from) {
        return add(wire_test::in_ethernet(
            "0806", wire_test::from_hex("0001 0800 0604 0002 020000000000" + address(from) +
                                        "020000000000" + address(2))));
    }
    void cannot_reach(int host, std::string_view error = "ETIMEDOUT") {
        log("client", R"("event":"failed","call":"ibv_modify_qp","error":")" + std::string(error) +
                          R"(","qpn":33,"from":"INIT","to":"RTR","gid_index":1,"dest_gid":")" +
                          gid(host) + '"');
    }
    void works_and_falls_silent() {
        send(100);
        ack(100);
        repeat(101, 4);
    }
};

TEST_F(Resolution, of_a_gid_that_no_log_has) {
    make("server", server());
    make("client", client());
    cannot_reach(9);
    for (int i = 0; i < 3; ++i)
        asks(2, 9);
    EXPECT_EQ(causes(), R"(
wrong-gid certain, fatal
  client, QP 0x000021
  the queue pair cannot reach the destination GID ::ffff:192.0.2.9: no log of another host has this address (ETIMEDOUT).
  client log: failed    ibv_modify_qp: ETIMEDOUT  QP 0x000021  INIT to RTR  GID index 1 to ::ffff:192.0.2.9
  client: the other hosts: server 192.0.2.1
  frame 1: ARP who has 192.0.2.9? Tell 192.0.2.2  (3 times, no reply)
)");
}

// rocetrace logs the index, also if the entry has no GID.
TEST_F(Resolution, from_a_gid_index_without_an_entry) {
    make("client", client());
    log("client", R"("event":"device","device":"rxe0","port":1,"gid_index":9)");
    log("client", R"("event":"failed","call":"ibv_modify_qp","error":"EINVAL","qpn":33,)"
                  R"("from":"INIT","to":"RTR","gid_index":9,"dest_gid":"::ffff:192.0.2.1")");
    EXPECT_EQ(causes(), R"(
wrong-gid certain, fatal
  client, QP 0x000021
  the port has no GID with index 9.
  client log: failed    ibv_modify_qp: EINVAL  QP 0x000021  INIT to RTR  GID index 9 to ::ffff:192.0.2.1
  client: GID 1: ::ffff:192.0.2.2
)");
}

TEST_F(Resolution, of_the_gid_of_a_host_that_does_not_respond) {
    make("server", server());
    make("client", client());
    cannot_reach(1, "EHOSTUNREACH");
    EXPECT_EQ(causes(), R"(
path-broken likely, fatal
  client, QP 0x000021
  the queue pair cannot reach the destination GID ::ffff:192.0.2.1: the host that has it did not respond, or no route leads to it (EHOSTUNREACH).
  client log: failed    ibv_modify_qp: EHOSTUNREACH  QP 0x000021  INIT to RTR  GID index 1 to ::ffff:192.0.2.1
  client: the other hosts: server 192.0.2.1
)");
}

TEST_F(Resolution, of_a_gid_without_the_peers_log) {
    make("client", client());
    cannot_reach(9);
    asks(2, 9);
    EXPECT_EQ(causes(), R"(
path-broken possible, fatal
  client, QP 0x000021
  the queue pair cannot reach the destination GID ::ffff:192.0.2.9: its host is down or was separated from the network, or no host has this address (ETIMEDOUT).
  client log: failed    ibv_modify_qp: ETIMEDOUT  QP 0x000021  INIT to RTR  GID index 1 to ::ffff:192.0.2.9
  frame 1: ARP who has 192.0.2.9? Tell 192.0.2.2  (once, no reply)
)");
}

TEST_F(Resolution, of_a_gid_whose_host_sent_packets_before) {
    make("client", client());
    add(answer({.from = 9, .to = 2, .qpn = 0x55}, 7));
    cannot_reach(9);
    EXPECT_EQ(answered(), "path-broken likely");
}

TEST_F(Resolution, of_the_gid_of_the_captures_host) {
    make("client", client());
    explainer_.captured_at(*flow::host_of_gid(gid(9)));
    forgetful_.captured_at(*flow::host_of_gid(gid(9)));
    cannot_reach(9);
    EXPECT_EQ(answered(), "path-broken likely");
}

TEST_F(Resolution, of_a_host_that_went_down) {
    works_and_falls_silent();
    asks(2, 1);
    asks(2, 1);
    EXPECT_EQ(answered(), "peer-gone possible");
    asks(2, 1);
    EXPECT_EQ(causes(), R"(
path-broken likely, fatal
  192.0.2.2 → 192.0.2.1, QP 0x000011
  nobody replied to 3 ARP requests for 192.0.2.1: its host is down, or was separated from the network.
  frame 3: RC SEND Only  PSN 0x000065  8 B
  frame 6: RC SEND Only  PSN 0x000065  8 B  (copy 4)
  frame 7: ARP who has 192.0.2.1? Tell 192.0.2.2
)");
}

TEST_F(Resolution, of_an_ipv6_host_that_went_down) {
    const auto over_ipv6 = [](Way way) {
        way.network = wire_test::Network::Ipv6;
        return way;
    };
    const auto sends = [&](std::uint32_t psn) {
        auto made = packet(over_ipv6(to_server), opcode::send_only, psn, 8);
        made.bth->a = true;
        add(made);
        wait(67 * ms);
    };
    const auto asks_three_times_for = [this](std::string_view end) {
        auto frame = wire_test::in_ethernet_ipv6(
            58, wire_test::from_hex("8700 0000 00000000 20010db80000000000000000000000" +
                                    std::string(end)));
        frame.at(14 + 7) = std::byte{255};  // the hop limit
        for (int i = 0; i < 3; ++i)
            add(frame);
    };
    sends(100);
    add(answer(over_ipv6(to_client), 100));
    for (int copy = 0; copy < 4; ++copy)
        sends(101);
    asks_three_times_for("09");
    EXPECT_EQ(answered(), "peer-gone possible");
    asks_three_times_for("01");
    EXPECT_EQ(answered(), "path-broken likely");
    EXPECT_EQ(
        first().text,
        "nobody replied to 3 NDP requests for 2001:db8::1: its host is down, or was separated "
        "from the network.");
}

TEST_F(Resolution, of_a_host_that_never_sent_a_packet) {
    repeat(100, 4);
    for (int i = 0; i < 3; ++i)
        asks(2, 1);
    EXPECT_EQ(answered(), "path-broken possible");
    EXPECT_NE(first().text.find("or the capture lacks its packets"), std::string::npos);
    EXPECT_NE(first().advice().find("a capture at it"), std::string::npos);
}

TEST_F(Resolution, of_a_host_that_replies) {
    works_and_falls_silent();
    for (int i = 0; i < 3; ++i)
        asks(2, 1);
    replies(1);
    EXPECT_EQ(answered(), "peer-gone possible");
}

TEST_F(Resolution, of_a_host_that_asks_for_its_peer) {
    works_and_falls_silent();
    for (int i = 0; i < 3; ++i)
        asks(2, 1);
    asks(1, 2);
    EXPECT_EQ(answered(), "peer-gone possible");
}

TEST_F(Resolution, of_a_host_that_sends_packets) {
    works_and_falls_silent();
    for (int i = 0; i < 3; ++i)
        asks(2, 1);
    add(packet({.from = 1, .to = 2, .qpn = 0x55}, opcode::send_only, 7, 8));
    EXPECT_NE(answered().substr(0, 11), "path-broken");
}

TEST_F(Resolution, before_the_silent_request_is_no_cause) {
    for (int i = 0; i < 3; ++i)
        asks(2, 1);
    repeat(100, 4);
    EXPECT_EQ(answered(), "unknown");
}

// A host looks for another one with its own address.
TEST_F(Resolution, of_the_own_address_asks_nobody) {
    works_and_falls_silent();
    for (int i = 0; i < 3; ++i)
        add(wire_test::in_ethernet("0806",
                                   wire_test::from_hex("0001 0800 0604 0001 020000000000 00000000 "
                                                       "000000000000 c0000201")));
    EXPECT_EQ(answered(), "peer-gone possible");
}

}  // namespace explain_test
