// Errors of the exchange over TCP, each a sentence that names the peer.
#include <array>
#include <csignal>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

#include <gtest/gtest.h>

#include "net/tcp.hpp"
#include "net/tls.hpp"
#include "support/error_text.hpp"

namespace tcp_errors_test {

using net::Socket;
using net::TcpChannel;
using net::TcpListener;
using std::chrono::milliseconds;
using support::error_text;

const util::Address loopback = util::Address::parse("127.0.0.1", 0).value();

class TcpErrors : public testing::Test {
  protected:
    net::TimeLimit limit(milliseconds time = milliseconds(5000)) {
        return {stop_, util::deadline_in(time)};
    }
    struct Pair {
        Socket client;
        Socket server;
    };
    Pair connected() {
        TcpListener listener(loopback);
        Socket client = net::connect_tcp(listener.address(), std::nullopt, limit());
        return {std::move(client), listener.accept(limit()).value()};
    }
    void wait_for_input(const Socket& socket) { net::wait_for(socket, true, limit()); }
    static util::Address unused_address() { return TcpListener(loopback).address(); }

    util::StopSignal stop_;
};

// Closing with this option set sends a reset.
void reset(Socket& socket) {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ASSERT_EQ(setsockopt(socket.fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    socket.fd.reset();
}

TEST_F(TcpErrors, a_signal_ends_an_attempt_to_connect) {
    const util::Address nobody = unused_address();
    raise(SIGTERM);
    EXPECT_EQ(error_text([&] {
                  net::connect_tcp(nobody, std::nullopt, {stop_, std::nullopt});
              }),
              "stopped by a signal while connecting to " + nobody.text() + ".");
}

TEST_F(TcpErrors, a_refused_connection_names_the_server) {
    const util::Address nobody = unused_address();
    EXPECT_EQ(error_text([&] { net::connect_tcp(nobody, std::nullopt, limit(milliseconds(0))); }),
              "cannot connect to " + nobody.text() +
                  ": Connection refused. No program listens there: start the server first, with "
                  "the same --port.");
}

// The kernel connects to a broadcast address only for sockets with SO_BROADCAST.
TEST_F(TcpErrors, an_address_that_cannot_be_reached_is_questioned) {
    const util::Address address = util::Address::parse("255.255.255.255", 7).value();
    const std::string error =
        error_text([&] { net::connect_tcp(address, std::nullopt, limit(milliseconds(200))); });
    EXPECT_TRUE(error.starts_with("cannot connect to 255.255.255.255 port 7: ")) << error;
    EXPECT_TRUE(error.ends_with(
        ". Is the address right, the host up, and does its firewall let the port through?"))
        << error;
}

TEST_F(TcpErrors, a_source_address_of_another_host_is_named) {
    try {
        net::connect_tcp(unused_address(), util::Address::parse("192.0.2.77", 0), limit());
        FAIL() << "connected";
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code().value(), EADDRNOTAVAIL);
        EXPECT_TRUE(std::string(error.what()).starts_with("bind(192.0.2.77 port 0): "));
    }
    try {
        const TcpListener elsewhere(util::Address::parse("192.0.2.77", 5).value());
        FAIL() << "listens";
    } catch (const std::system_error& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with("bind(192.0.2.77 port 5): "));
    }
}

TEST_F(TcpErrors, a_connection_is_made_from_the_given_source) {
    TcpListener listener(loopback);
    const Socket client =
        net::connect_tcp(listener.address(), util::Address::parse("127.0.0.2", 0), limit());
    EXPECT_EQ(client.local().host(), "127.0.0.2");
    EXPECT_EQ(listener.accept(limit())->peer.host(), "127.0.0.2");
    EXPECT_EQ(client.peer.port(), listener.address().port());
}

TEST_F(TcpErrors, small_messages_are_sent_at_once) {
    const Pair pair = connected();
    for (const Socket* socket : {&pair.client, &pair.server}) {
        int value = 0;
        socklen_t size = sizeof value;
        ASSERT_EQ(getsockopt(socket->fd.get(), IPPROTO_TCP, TCP_NODELAY, &value, &size), 0);
        EXPECT_NE(value, 0);
    }
}

TEST_F(TcpErrors, a_listener_on_ipv6_accepts_ipv4_as_well) {
    TcpListener listener(util::Address::any(0));
    const auto port = listener.address().port();
    EXPECT_NO_THROW(
        net::connect_tcp(util::Address::parse("127.0.0.1", port).value(), std::nullopt, limit()));
    EXPECT_EQ(listener.accept(limit())->peer.host(), "127.0.0.1");
}

TEST_F(TcpErrors, no_client_within_the_time_is_nothing) {
    TcpListener listener(loopback);
    EXPECT_FALSE(listener.accept_now());
    EXPECT_FALSE(listener.accept(limit(milliseconds(20))));
    raise(SIGTERM);
    EXPECT_FALSE(listener.accept({stop_, std::nullopt}));
}

TEST_F(TcpErrors, a_signal_ends_the_wait_for_the_peer) {
    Pair pair = connected();
    TcpChannel client(std::move(pair.client));
    raise(SIGTERM);
    std::array<std::byte, 1> byte{};
    EXPECT_EQ(error_text([&] {
                  client.receive(byte, {stop_, std::nullopt});
              }),
              "stopped by a signal during the exchange with " + client.peer().text() + ".");
}

TEST_F(TcpErrors, a_silent_peer_and_one_that_closed_are_told_apart) {
    Pair pair = connected();
    TcpChannel client(std::move(pair.client));
    std::array<std::byte, 1> byte{};
    EXPECT_EQ(error_text([&] { client.receive(byte, limit(milliseconds(20))); }),
              client.peer().text() + " did not respond in time during the exchange.");
    pair.server.fd.reset();
    EXPECT_EQ(error_text([&] { client.receive(byte, limit()); }),
              client.peer().text() +
                  " closed the connection during the exchange. Its log has the reason.");
}

TEST_F(TcpErrors, a_reset_breaks_the_exchange_in_both_directions) {
    std::array<std::byte, 1> byte{};
    Pair reading = connected();
    TcpChannel client(std::move(reading.client));
    reset(reading.server);
    EXPECT_EQ(error_text([&] { client.receive(byte, limit()); }),
              "the connection to " + client.peer().text() +
                  " broke during the exchange: Connection reset by peer.");
    EXPECT_EQ(
        error_text([&] { client.send(byte, limit()); }),
        "the connection to " + client.peer().text() + " broke during the exchange: Broken pipe.");
}

TEST_F(TcpErrors, a_message_larger_than_the_buffers_arrives_whole) {
    Pair pair = connected();
    TcpChannel client(std::move(pair.client)), server(std::move(pair.server));
    std::vector<std::byte> sent(20'000'000);
    for (std::size_t i = 0; i < sent.size(); ++i)
        sent[i] = static_cast<std::byte>(i * 7 / 5);
    std::vector<std::byte> received(sent.size());
    std::jthread reader([&] { EXPECT_NO_THROW(server.receive(received, limit())); });
    client.send(sent, limit());
    reader.join();
    EXPECT_EQ(received, sent);
    // A peer that does not read is silent, too.
    EXPECT_EQ(error_text([&] { client.send(sent, limit(milliseconds(50))); }),
              client.peer().text() + " did not respond in time during the exchange.");
}

TEST_F(TcpErrors, input_is_discarded_until_the_peer_has_closed) {
    Pair pair = connected();
    EXPECT_FALSE(net::discard_input(pair.server));
    TcpChannel client(std::move(pair.client));
    // 16 reads of 4096 bytes are made at a time.
    client.send(std::vector<std::byte>(16 * 4096 + 1), limit());
    wait_for_input(pair.server);
    EXPECT_FALSE(net::discard_input(pair.server));
    EXPECT_FALSE(net::discard_input(pair.server));
    std::byte rest{};
    EXPECT_EQ(recv(pair.server.fd.get(), &rest, 1, 0), -1) << "nothing is left";
    Pair closed = connected();
    closed.client.fd.reset();
    wait_for_input(closed.server);
    EXPECT_TRUE(net::discard_input(closed.server));
    Pair broken = connected();
    reset(broken.client);
    wait_for_input(broken.server);
    EXPECT_TRUE(net::discard_input(broken.server));
}

// tcp(7): idle 5 s, then 3 probes of 3 s each; the limit for unanswered data is 15 s.
TEST_F(TcpErrors, a_peer_that_vanishes_is_noticed_after_fifteen_seconds) {
    const Pair pair = connected();
    net::notice_when_gone(pair.client);
    const auto option = [&](int level, int name) {
        int value = 0;
        socklen_t size = sizeof value;
        EXPECT_EQ(getsockopt(pair.client.fd.get(), level, name, &value, &size), 0);
        return value;
    };
    EXPECT_EQ(option(SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPIDLE), 5);
    EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPINTVL), 3);
    EXPECT_EQ(option(IPPROTO_TCP, TCP_USER_TIMEOUT), 15'000);
}

TEST_F(TcpErrors, the_address_towards_a_host_of_this_machine_is_loopback) {
    EXPECT_EQ(net::local_address_towards(util::Address::parse("127.0.0.1", 7).value()).host(),
              "127.0.0.1");
    EXPECT_EQ(net::local_address_towards(util::Address::parse("127.0.0.9", 7).value()).host(),
              "127.0.0.1");
}

TEST_F(TcpErrors, the_round_trip_is_measured_by_the_kernel) {
    const Pair pair = connected();
    const auto took = net::round_trip(pair.client);
    EXPECT_GT(took.count(), 0);
    EXPECT_LT(took, std::chrono::seconds(5));
    EXPECT_EQ(net::round_trip(Socket{util::Fd(), loopback}).count(), 0);
}

}  // namespace tcp_errors_test
