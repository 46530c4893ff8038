// Lesson 08 in the lab: clients that misbehave while another client works.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lab/lesson08_serving.hpp"
#include "net/endpoint.hpp"

namespace lesson08_test {

using namespace lesson08_serving;

TEST_F(Lesson08, who_misbehaves_is_dropped_and_disturbs_nobody) {
    const std::string before = resources();
    Serving serving("--bind " + support::server_ip + " --clients 2 --setup-time 10");
    const std::string listening = resources();

    // This client works during the whole test, the others only during a part of it.
    support::Process good = support::start("client", {client, support::server_ip, "--clients", "1",
                                                      "--operations", "1500", "--length", "1000"});
    ASSERT_TRUE(good.await("are connected", seconds(30)));

    // A second client works, and a third exceeds --clients. The second is killed during its work.
    support::Process killed =
        shell_on_client("echo $$ >/tmp/lesson08.pid; exec " + std::string(client) + " " +
                        support::server_ip + " --clients 1 --operations 100000000 --length 5000");
    ASSERT_TRUE(killed.await("post_send wr 20", seconds(30)));
    const auto third = one_client();
    EXPECT_EQ(third.exit_code, 1);
    EXPECT_NE(
        third.err.find(
            "the peer refused the exchange: the server already serves 2 clients (--clients)."),
        std::string::npos)
        << third.all();
    support::exec("client", {"bash", "-c", "kill -KILL $(</tmp/lesson08.pid)"});
    EXPECT_TRUE(serving.tells("1 lost (closed 1,"));

    // A client without TLS, and one with an old version of TLS.
    const support::Process garbage =
        connections(1, "this is no ClientHello, but it is long enough");
    EXPECT_TRUE(serving.tells("tls 1,"));
    const auto old = support::exec("client", {"bash", "-c", s_client + "-tls1_2 </dev/null"});
    EXPECT_NE(old.err.find("alert protocol version"), std::string::npos) << old.all();
    EXPECT_TRUE(serving.tells("tls 2,"));

    // A client with a valid certificate that sends garbage, and one that sends nothing.
    const auto babble = support::exec(
        "client", {"bash", "-c", "(printf '%.0sgarbage ' {1..99}; exec sleep 5) | " + s_client});
    EXPECT_NE(babble.out.find("does not use this lab's exchange protocol"), std::string::npos)
        << babble.all();
    EXPECT_TRUE(serving.tells("protocol 1,"));
    const support::Process mute = shell_on_client("sleep 300 | " + s_client);
    EXPECT_TRUE(serving.tells("late 1,"));

    // 100 connections that send nothing: a client that sends its messages is still served.
    support::Process flood = connections(100, "");
    ASSERT_TRUE(flood.await("opened", seconds(60)));
    const auto newcomer = one_client();
    EXPECT_EQ(newcomer.exit_code, 0) << newcomer.all();
    EXPECT_TRUE(serving.tells("late 101,"));
    EXPECT_TRUE(serving.tells("1 clients (most 2,")) << "the good one should be there still";

    const auto outcome = good.wait(seconds(180));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(serving.tells("0 clients (most 2,"));
    EXPECT_EQ(resources(), listening);
    const auto log = serving.stop();
    EXPECT_EQ(resources(), before);

    // The new client was finished before the server closed the first of these connections.
    std::int64_t left = 0;
    std::int64_t given_up = 0;
    for (const auto& event : log) {
        if (event.name == "client" && event.text("state") == "has left" && left == 0)
            left = event.t_ns;
        if (event.name == "lost" && event.text("text") == "it sent nothing." && given_up == 0)
            given_up = event.t_ns;
    }
    EXPECT_GT(left, 0);
    EXPECT_LT(left, given_up);
    for (const auto& event : log)
        for (const auto& field : event.fields) {
            const bool is_psn = field.key == "psn" || field.key.ends_with("_psn");
            EXPECT_TRUE(!is_psn || event.text(field.key) == "secret") << runlog::to_json(event);
        }
}

// Writes a file that the guests can read, with the endpoint message of a client that has this
// address in its GID. Returns its name.
std::string endpoint_file(const std::string& address) {
    const net::Endpoint endpoint{
        .qpn = 17,
        .psn = 5,
        .path_mtu = 4096,
        .gid = util::Address::parse(address).value().ipv6_bytes(),
    };
    const auto bytes = net::serialize(endpoint);
    std::filesystem::create_directories("build/lesson08_test");
    std::string name = "build/lesson08_test/" + address;
    std::ofstream(name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return name;
}

TEST_F(Lesson08, who_names_a_gid_that_is_not_its_own_is_refused) {
    const Strings gids{"192.0.2.100", "192.0.2.1", "192.0.2.255", "ff02::1"};
    Serving serving("--bind " + support::server_ip);
    std::string commands;
    for (const std::string& gid : gids)
        commands += "{ cat " + endpoint_file(gid) + "; sleep 10; } | " + s_client + " & ";
    const auto outcome = support::exec("client", {"bash", "-c", commands + "wait"});
    for (const std::string gid :
         {"::ffff:192.0.2.100", "::ffff:192.0.2.1", "::ffff:192.0.2.255", "ff02::1"})
        EXPECT_NE(outcome.out.find(fmt::format("its GID is {}, but the connection is with {}.", gid,
                                               support::client_ip)),
                  std::string::npos)
            << gid << " in\n"
            << outcome.all();
    EXPECT_TRUE(serving.tells("protocol 4,"));
    serving.stop();
}

// Eight clients have an address that does not answer ARP requests any more, so ibv_modify_qp(RTR)
// takes a second for each. A client with another address is served before they fail. arp_announce:
// otherwise the server would learn the address from the client's own ARP requests.
TEST_F(Lesson08, whose_address_does_not_resolve_delays_nobody) {
    Serving serving("--bind :: --setup-time 60");
    support::Process mute = shell_on_client(
        "rm -f /tmp/lesson08.*; ip address add 192.0.2.77/24 dev eth0; "
        "for i in {1..8}; do { until [[ -e /tmp/lesson08.go ]]; do sleep 0.1; done; cat " +
        endpoint_file("192.0.2.77") + "; exec sleep 60; } | " + s_client +
        "-brief -nocommands -bind 192.0.2.77:0 2>/tmp/lesson08.$i & done; "
        "until (($(cat /tmp/lesson08.? | grep -c ESTABLISHED) == 8)); do sleep 0.2; done; "
        "sysctl -qw net.ipv4.conf.eth0.arp_ignore=8 net.ipv4.conf.eth0.arp_announce=2; "
        "echo ready; wait");
    ASSERT_TRUE(mute.await("ready", seconds(60)));
    ASSERT_EQ(support::exec("server", {"ip", "neighbour", "flush", "to", "192.0.2.77"}).exit_code,
              0);
    const auto newcomer =
        support::exec("client", {"bash", "-c",
                                 "touch /tmp/lesson08.go; exec " + std::string(client) + " " +
                                     support::server_ip6 + " --clients 1"});
    EXPECT_EQ(newcomer.exit_code, 0) << newcomer.all();
    EXPECT_TRUE(serving.tells("failed 8)"));
    support::exec("client", {"bash", "-c",
                             "sysctl -qw net.ipv4.conf.eth0.arp_ignore=0 "
                             "net.ipv4.conf.eth0.arp_announce=0; "
                             "ip address del 192.0.2.77/24 dev eth0"});
    int lost = 0;
    int lost_before = 8;
    for (const auto& event : serving.stop()) {
        lost += event.name == "lost" ? 1 : 0;
        if (event.name == "client" && event.text("state") == "connected")
            lost_before = lost;
    }
    EXPECT_EQ(lost, 8);
    EXPECT_LT(lost_before, 8);
}

}  // namespace lesson08_test
