// The exchange over TCP on loopback: peers that connect late, close early, or send nothing.
#include "net/tcp.hpp"

#include <cerrno>
#include <fstream>
#include <functional>
#include <future>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "support/error_text.hpp"
namespace tcp_test {

using net::TcpChannel;
using net::TcpListener;
using net::TimeLimit;
using std::chrono::milliseconds;

const util::Address loopback = util::Address::parse("127.0.0.1", 0).value();

class TcpExchange : public testing::Test {
  protected:
    util::StopSignal stop_;

    TimeLimit limit(milliseconds time = milliseconds(5000)) {
        return {stop_, util::deadline_in(time)};
    }

    struct Pair {
        TcpChannel client;
        TcpChannel server;
    };
    Pair connected() {
        TcpListener listener(loopback);
        auto client = net::connect_tcp(listener.address(), std::nullopt, limit());
        auto server = listener.accept(limit());
        return Pair{TcpChannel(std::move(client)), TcpChannel(std::move(server.value()))};
    }
};

// Returns the kernel's count of failed connection attempts (RFC 1213, tcpAttemptFails). It
// increases when the client is refused.
std::uint64_t refusals() {
    std::ifstream file("/proc/self/net/snmp");
    std::string names;
    std::string values;
    while (std::getline(file, names) && std::getline(file, values)) {
        std::istringstream name(names);
        std::istringstream value(values);
        for (std::string key, count; name >> key && value >> count;)
            if (key == "AttemptFails")
                return std::stoull(count);
    }
    throw std::runtime_error("the kernel does not count refused connections");
}

TEST_F(TcpExchange, endpoints_and_ready_pass_both_ways) {
    Pair pair = connected();
    net::Endpoint endpoint{.qpn = 17, .psn = 5, .path_mtu = 4096};
    endpoint.gid = pair.client.peer().ipv6_bytes();  // both are on loopback
    std::jthread peer([&] {
        EXPECT_NO_THROW({
            EXPECT_EQ(net::receive_endpoint(pair.server, limit()), endpoint);
            net::send_endpoint(pair.server, endpoint, limit());
            net::barrier(pair.server, limit());
        });
    });
    net::send_endpoint(pair.client, endpoint, limit());
    EXPECT_EQ(net::receive_endpoint(pair.client, limit()), endpoint);
    net::barrier(pair.client, limit());
    peer.join();
    EXPECT_EQ(pair.client.socket().local().port(), pair.server.socket().peer.port());
}

TEST_F(TcpExchange, a_server_that_starts_a_moment_later_is_found) {
    util::Address address;
    {
        const TcpListener free_port(loopback);
        address = free_port.address();
    }
    const std::uint64_t before = refusals();
    const std::jthread late([&] {
        EXPECT_NO_THROW({
            while (refusals() == before)
                std::this_thread::yield();
            TcpListener listener(address);
            EXPECT_TRUE(listener.accept(limit()).has_value());
        });
    });
    EXPECT_NO_THROW(net::connect_tcp(address, std::nullopt, limit()));
}

TEST_F(TcpExchange, nobody_there_is_a_sentence_within_the_time) {
    util::Address address;
    {
        const TcpListener free_port(loopback);
        address = free_port.address();
    }
    const auto begin = util::Clock::now();
    const std::string error = support::error_text(
        [&] { net::connect_tcp(address, std::nullopt, limit(milliseconds(300))); });
    EXPECT_LT(util::Clock::now() - begin, milliseconds(2000));
    EXPECT_NE(error.find("No program listens there: start the server first"), std::string::npos)
        << error;
}

// A client comes only if the listener still waits long after its time.
TEST_F(TcpExchange, waiting_ends_in_time_whatever_error_an_earlier_call_had) {
    TcpListener listener(loopback);
    std::promise<void> ended;
    const std::jthread late([&] {
        if (ended.get_future().wait_for(std::chrono::seconds(10)) == std::future_status::timeout) {
            EXPECT_NO_THROW(net::connect_tcp(listener.address(), std::nullopt, limit()));
        }
    });
    errno = EINTR;
    EXPECT_FALSE(listener.accept(limit(milliseconds(1))).has_value());
    ended.set_value();
}

TEST_F(TcpExchange, a_peer_that_goes_or_is_silent_is_named) {
    TcpListener listener(loopback);
    auto client = net::connect_tcp(listener.address(), std::nullopt, limit());
    auto accepted = listener.accept(limit());
    TcpChannel silent(std::move(client));
    EXPECT_NE(support::error_text([&] {
                  net::receive_endpoint(silent, limit(milliseconds(100)));
              }).find("did not respond in time during the exchange"),
              std::string::npos);
    accepted.reset();
    EXPECT_NE(support::error_text([&] {
                  net::receive_endpoint(silent, limit());
              }).find("closed the connection during the exchange"),
              std::string::npos);
}

TEST_F(TcpExchange, garbage_is_refused_by_its_first_bytes) {
    Pair pair = connected();
    const std::string_view http = "GET / HTTP/1.1\r\n\r\n";
    pair.server.send(std::as_bytes(std::span(http)), limit());
    EXPECT_NE(support::error_text([&] {
                  net::receive_endpoint(pair.client, limit());
              }).find("does not use this lab's exchange protocol"),
              std::string::npos);
}

}  // namespace tcp_test
