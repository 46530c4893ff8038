// The hub on loopback in this thread, with various peers in another thread.
#include <algorithm>
#include <csignal>
#include <deque>
#include <sys/socket.h>
#include <thread>

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "examples/08_secure_multi_client/hardened/hub.hpp"
#include "support/certificates.hpp"
#include "support/temp_path.hpp"

namespace lesson08_hub_test {

using namespace std::chrono_literals;
using lesson08::Hub;
using lesson08::Id;
using lesson08::Loss;
using net::MessageType;
using net::TimeLimit;
using net::TlsChannel;
using net::TlsRole;

const util::Address loopback = util::Address::parse("127.0.0.1", 0).value();

// A handler that sends the type of each message back, and closes the connection after `done`.
// Endpoints and refusals are errors.
class Answering : public lesson08::Handler {
  public:
    Hub* hub = nullptr;
    std::optional<std::chrono::milliseconds> limit;  // deadline of an open connection
    std::size_t opened = 0;
    std::vector<Loss> losses;

    void on_open(Id id) override {
        ++opened;
        if (limit)
            hub->set_deadline(id, util::deadline_in(*limit));
    }
    void on_message(Id id, const net::Message& message) override {
        if (message.type == MessageType::Endpoint)
            throw std::runtime_error("there is no memory left");
        if (message.type == MessageType::Refused)
            throw net::ProtocolError("a client does not refuse.");
        hub->send(id, net::serialize_header(message.type));
        if (message.type == MessageType::Done)
            hub->close(id);
    }
    void on_late(Id id) override { hub->lose(id, Loss::Late, "that took too long."); }
    void on_lost(Id id, const util::Address& peer, Loss loss, const std::string& text) override {
        EXPECT_GT(id, 0U);
        EXPECT_TRUE(peer.host().starts_with("127.0.0.")) << peer.host();
        EXPECT_FALSE(text.empty());
        losses.push_back(loss);
    }
};

class HubTest : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        certificates = new support::TempPath("hub_test");
        support::make_certificates(certificates->str());
    }
    static void TearDownTestSuite() { delete certificates; }

    // Runs the hub until `peers` returns.
    void serve(lesson08::Bounds bounds, const std::function<void()>& peers) {
        Hub hub(server_, loopback, bounds, handler_);
        handler_.hub = &hub;
        address_ = hub.address();
        const std::jthread others([&] {
            EXPECT_NO_THROW(peers());
            kill(getpid(), SIGTERM);
        });
        hub.run(stop_);
    }

    TimeLimit limit() { return {stop_, util::deadline_in(20s)}; }
    net::Socket connect() { return net::connect_tcp(address_, std::nullopt, limit()); }
    std::unique_ptr<TlsChannel> join(const char* from = "127.0.0.1") {
        return std::make_unique<TlsChannel>(
            client_, net::connect_tcp(address_, util::Address::parse(from), limit()), limit());
    }
    // Returns connections that have sent the first `bytes` bytes of a ClientHello.
    std::vector<net::Socket> stuck(int count, std::size_t bytes) {
        const std::string hello = client_hello().substr(0, bytes);
        std::vector<net::Socket> sockets;
        for (int i = 0; i < count; ++i) {
            sockets.push_back(connect());
            EXPECT_EQ(send(sockets.back().fd.get(), hello.data(), hello.size(), 0),
                      static_cast<ssize_t>(hello.size()));
        }
        return sockets;
    }
    static constexpr std::size_t whole = 1 << 14;
    static std::string client_hello() {
        const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_client_method()),
                                                                   SSL_CTX_free);
        const std::unique_ptr<SSL, void (*)(SSL*)> ssl(SSL_new(context.get()), SSL_free);
        SSL_set_bio(ssl.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
        SSL_connect(ssl.get());
        std::string bytes(whole, '\0');
        const int size = BIO_read(SSL_get_wbio(ssl.get()), bytes.data(), static_cast<int>(whole));
        EXPECT_GT(size, 100);
        bytes.resize(static_cast<std::size_t>(std::max(size, 0)));
        return bytes;
    }
    // Waits until the hub has closed its end.
    void expect_end(const net::Socket& socket) {
        while (!net::discard_input(socket))
            ASSERT_EQ(util::wait_readable(socket.fd.get(), stop_, util::deadline_in(20s)),
                      util::Ready::input);
    }
    // Sends a message of this type. Returns "ready", or the error that the hub sends back.
    std::string answer_to(MessageType type, std::size_t size = 0) {
        const auto channel = join();
        std::vector<std::byte> message(net::header_size + size);
        std::ranges::copy(net::serialize_header(type, size), message.begin());
        channel->send(message, limit());
        try {
            net::barrier(*channel, limit());
        } catch (const util::Error& error) {
            expect_end(channel->socket());
            return error.what();
        }
        return "ready";
    }

    static net::TlsContext context(TlsRole role) {
        return support::tls_context(
            role, support::files_of(role, certificates->str(), certificates->str()),
            role == TlsRole::Client ? "rdma-server" : "rdma-client");
    }

    util::StopSignal stop_;
    net::TlsContext server_ = context(TlsRole::Server);
    net::TlsContext client_ = context(TlsRole::Client);
    Answering handler_;
    util::Address address_;

  private:
    static support::TempPath* certificates;
};

support::TempPath* HubTest::certificates = nullptr;

TEST_F(HubTest, many_are_open_at_once_and_each_leaves_in_peace) {
    serve({.newcomers = 8, .handshakes = 2}, [&] {
        std::vector<std::unique_ptr<TlsChannel>> channels(40);
        for (auto& channel : channels) {
            channel = join();
            net::barrier(*channel, limit());
        }
        for (const auto& channel : channels) {
            net::finish(*channel, limit());
            channel->close(limit());
        }
    });
    EXPECT_EQ(handler_.opened, 40U);
    EXPECT_TRUE(handler_.losses.empty());
}

TEST_F(HubTest, silent_peers_are_dropped_and_nobody_waits_for_their_handshake) {
    serve({.newcomers = 8, .handshakes = 1, .setup_time = 1500ms}, [&] {
        std::vector<net::Socket> silent;
        silent.reserve(5);
        for (int i = 0; i < 5; ++i)
            silent.push_back(connect());
        const auto begin = util::Clock::now();
        net::barrier(*join(), limit());
        EXPECT_LT(util::Clock::now() - begin, 1500ms);
        for (const auto& socket : silent)
            expect_end(socket);
    });
    EXPECT_EQ(std::ranges::count(handler_.losses, Loss::Late), 5);
}

TEST_F(HubTest, newcomers_beyond_the_bound_wait_in_the_kernel_for_their_turn) {
    serve({.newcomers = 3, .setup_time = 1000ms}, [&] {
        std::deque<net::Socket> silent;
        for (int i = 0; i < 6; ++i)
            silent.push_back(connect());
        net::barrier(*join(), limit());
        for (const auto& socket : silent)
            expect_end(socket);
    });
    EXPECT_EQ(std::ranges::count(handler_.losses, Loss::Late), 6);
}

TEST_F(HubTest, a_handshake_that_stops_halfway_gives_its_place_up) {
    serve({.handshakes = 1, .setup_time = 1000ms}, [&] {
        // The header of a ClientHello record without its body.
        const net::Socket half = connect();
        const std::array<unsigned char, 5> hello{0x16, 3, 1, 0, 200};
        ASSERT_EQ(send(half.fd.get(), hello.data(), hello.size(), 0), 5);
        net::barrier(*join(), limit());
        expect_end(half);
    });
    EXPECT_EQ(std::ranges::count(handler_.losses, Loss::Late), 1);
}

TEST_F(HubTest, a_part_of_a_ClientHello_takes_no_handshakes_place) {
    serve({.handshakes = 1, .hello_time = 1000ms}, [&] {
        auto sockets = stuck(20, 1);
        for (net::Socket& more : stuck(20, 100))
            sockets.push_back(std::move(more));
        const auto begin = util::Clock::now();
        net::barrier(*join(), limit());
        EXPECT_LT(util::Clock::now() - begin, 1000ms);
        for (const auto& socket : sockets)
            expect_end(socket);
        EXPECT_GE(util::Clock::now() - begin, 900ms);
        EXPECT_LT(util::Clock::now() - begin, 5s) << "not before their setup time was over";
    });
    EXPECT_EQ(std::ranges::count(handler_.losses, Loss::Late), 40);
}

TEST_F(HubTest, a_ClientHello_may_come_in_pieces) {
    serve({}, [&] {
        auto sockets = stuck(1, 3);
        const std::string hello = client_hello();
        for (std::size_t i = 3; i < hello.size(); i += 50) {
            const auto piece = std::string_view(hello).substr(i, 50);
            ASSERT_GT(send(sockets[0].fd.get(), piece.data(), piece.size(), 0), 0);
        }
        // The server's response is a handshake record.
        ASSERT_EQ(util::wait_readable(sockets[0].fd.get(), stop_, util::deadline_in(5s)),
                  util::Ready::input);
        unsigned char type = 0;
        ASSERT_EQ(recv(sockets[0].fd.get(), &type, 1, 0), 1);
        EXPECT_EQ(type, 22);
    });
}

TEST_F(HubTest, a_part_of_a_ClientHello_and_an_end_is_dropped_at_once) {
    serve({}, [&] {
        const auto begin = util::Clock::now();
        const auto sockets = stuck(1, 30);
        shutdown(sockets[0].fd.get(), SHUT_WR);
        expect_end(sockets[0]);
        EXPECT_LT(util::Clock::now() - begin, 1500ms);
    });
    EXPECT_EQ(handler_.losses, std::vector{Loss::Tls});
}

TEST_F(HubTest, one_source_does_not_get_all_handshakes) {
    serve({.handshakes = 4, .handshakes_a_source = 2}, [&] {
        const auto sockets = stuck(10, whole);
        const auto begin = util::Clock::now();
        net::barrier(*join("127.0.0.2"), limit());
        EXPECT_LT(util::Clock::now() - begin, 5s);
    });
    EXPECT_EQ(handler_.opened, 1U);
}

TEST_F(HubTest, who_keeps_the_server_waiting_makes_room) {
    serve({.newcomers = 4, .handshakes_a_source = 2, .setup_time = 20s, .hello_time = 1000ms}, [&] {
        const auto silent = connect();
        const auto sockets = stuck(3, whole);
        const auto begin = util::Clock::now();
        net::barrier(*join("127.0.0.2"), limit());
        EXPECT_LT(util::Clock::now() - begin, 5s);
        expect_end(silent);
    });
    EXPECT_EQ(handler_.opened, 1U);
    // The peers close the other connections.
    ASSERT_FALSE(handler_.losses.empty());
    EXPECT_EQ(handler_.losses.front(), Loss::Late);
    EXPECT_EQ(std::ranges::count(handler_.losses, Loss::Late), 1);
}

TEST_F(HubTest, garbage_is_dropped_at_once_and_told_by_an_alert_where_it_looked_like_tls) {
    serve({}, [&] {
        const net::Socket http = connect();
        ASSERT_EQ(send(http.fd.get(), "GET / HTTP/1.0\r\n\r\n", 18, 0), 18);
        expect_end(http);
        // A record with a handshake message of the unknown type 99.
        const net::Socket socket = connect();
        const std::array<unsigned char, 9> record{0x16, 3, 1, 0, 4, 99, 0, 0, 0};
        ASSERT_EQ(send(socket.fd.get(), record.data(), record.size(), 0), 9);
        ASSERT_EQ(util::wait_readable(socket.fd.get(), stop_, util::deadline_in(5s)),
                  util::Ready::input);
        unsigned char type = 0;
        ASSERT_EQ(recv(socket.fd.get(), &type, 1, 0), 1);
        EXPECT_EQ(type, 21) << "no TLS alert (RFC 8446, 6)";
        expect_end(socket);
    });
    EXPECT_EQ(handler_.losses, (std::vector{Loss::Tls, Loss::Tls}));
}

TEST_F(HubTest, what_the_protocol_does_not_have_ends_the_connection_with_a_sentence) {
    serve({}, [&] {
        EXPECT_EQ(answer_to(MessageType{7}),
                  "the peer refused the exchange: the peer sent a message of the unknown type 7.");
        EXPECT_EQ(answer_to(MessageType::Refused),
                  "the peer refused the exchange: a client does not refuse.");
    });
    EXPECT_EQ(handler_.losses, (std::vector{Loss::Protocol, Loss::Protocol}));
}

TEST_F(HubTest, what_fails_for_one_client_is_told_to_it_and_ends_there) {
    serve({}, [&] {
        const auto other = join();
        EXPECT_EQ(answer_to(MessageType::Endpoint, net::endpoint_size),
                  "the peer refused the exchange: there is no memory left");
        net::barrier(*other, limit());
        net::finish(*other, limit());
    });
    EXPECT_EQ(handler_.losses, std::vector{Loss::Failed});
}

TEST_F(HubTest, a_peer_that_goes_without_a_word_is_lost_at_once) {
    serve({}, [&] {
        const auto channel = join();
        net::barrier(*channel, limit());
        shutdown(channel->socket().fd.get(), SHUT_WR);
        expect_end(channel->socket());
    });
    EXPECT_EQ(handler_.losses, std::vector{Loss::Closed});
}

TEST_F(HubTest, the_handlers_deadline_holds_for_an_open_connection) {
    handler_.limit = 200ms;
    serve({}, [&] {
        const auto channel = join();
        std::array<std::byte, 8> header{};
        channel->receive(header, limit());
        EXPECT_EQ(net::parse_header(header).type, MessageType::Refused);
    });
    EXPECT_EQ(handler_.losses, std::vector{Loss::Late});
}

}  // namespace lesson08_hub_test
