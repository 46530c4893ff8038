// Our ends with other programs: openssl's client and server, programs that do not use TLS, and
// peers that send nothing.
#include <array>
#include <sys/socket.h>
#include <thread>

#include <gtest/gtest.h>

#include "net/tls.hpp"
#include "support/certificates.hpp"
#include "support/temp_path.hpp"
#include "util/error.hpp"

namespace tls_peers_test {

using net::TimeLimit;
using net::TlsChannel;
using net::TlsContext;
using net::TlsRole;
using std::chrono::milliseconds;

class TlsPeers : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        certificates = new support::TempPath("tls_peers_test");
        support::make_certificates(certificates->str());
    }
    static void TearDownTestSuite() { delete certificates; }
    static std::string file(const std::string& name) { return certificates->str() + "/" + name; }

    TimeLimit limit(milliseconds time = milliseconds(5000)) {
        return {stop_, util::deadline_in(time)};
    }

    static TlsContext context(TlsRole role) {
        return support::tls_context(
            role, support::files_of(role, certificates->str(), certificates->str()),
            role == TlsRole::Client ? "rdma-server" : "rdma-client");
    }

    // Serves the next client with our server, and returns the error. An accepted client receives a
    // greeting.
    std::string serve_one(milliseconds time = milliseconds(5000)) {
        TlsContext server = context(TlsRole::Server);
        try {
            auto socket = listener_.accept(limit());
            TlsChannel channel(server, std::move(socket.value()), limit(time));
            channel.send(std::as_bytes(std::span("hello from the lab", 18)), limit());
        } catch (const util::Error& error) {
            return error.what();
        }
        return {};
    }

    // The results of a connection from openssl s_client.
    struct Met {
        std::string error;          // from our server
        support::Outcome s_client;  // openssl's output and exit code
    };
    Met meet_s_client(const support::Argv& more) {
        support::Argv argv{"openssl",
                           "s_client",
                           "-connect",
                           "127.0.0.1:" + std::to_string(listener_.address().port()),
                           "-CAfile",
                           file("ca.crt"),
                           "-verify_return_error",
                           "-quiet"};
        argv.insert(argv.end(), more.begin(), more.end());
        support::Process s_client(argv, {}, support::Input::held_open);
        Met met;
        met.error = serve_one();
        met.s_client = s_client.wait(milliseconds(5000));
        return met;
    }

    // Connects a plain TCP client that sends this text and then closes its sending side.
    std::string meet_speech(std::string_view speech) {
        const auto socket = net::connect_tcp(listener_.address(), std::nullopt, limit());
        EXPECT_EQ(send(socket.fd.get(), speech.data(), speech.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(speech.size()));
        shutdown(socket.fd.get(), SHUT_WR);
        return serve_one();
    }

    static inline support::TempPath* certificates = nullptr;
    util::StopSignal stop_;
    net::TcpListener listener_{util::Address::parse("127.0.0.1", 0).value()};
};

void expect_has(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << "'" << text << "' has no '" << part << "'";
}

TEST_F(TlsPeers, openssls_client_with_our_certificate_is_served) {
    const Met met = meet_s_client({"-cert", file("client.crt"), "-key", file("client.key"),
                                   "-verify_hostname", "rdma-server"});
    EXPECT_EQ(met.error, "");
    expect_has(met.s_client.out, "hello from the lab");
}

TEST_F(TlsPeers, a_client_without_a_certificate_is_refused) {
    const Met met = meet_s_client({});
    expect_has(met.error, "is refused: it showed no certificate.");
    expect_has(met.s_client.err, "certificate required");
}

TEST_F(TlsPeers, a_client_of_tls_1_2_is_refused) {
    const Met met =
        meet_s_client({"-tls1_2", "-cert", file("client.crt"), "-key", file("client.key")});
    expect_has(met.error, "is refused: it does not support TLS 1.3.");
    expect_has(met.s_client.err, "protocol version");
}

TEST_F(TlsPeers, a_server_of_tls_1_2_is_refused) {
    support::Process s_server({"openssl", "s_server", "-accept", "127.0.0.1:0", "-cert",
                               file("server.crt"), "-key", file("server.key"), "-tls1_2"},
                              {}, support::Input::held_open);
    ASSERT_TRUE(s_server.await("ACCEPT 127.0.0.1:", milliseconds(5000)));
    ASSERT_TRUE(s_server.await("\n", milliseconds(1000)));
    const std::string said = s_server.output();
    const auto port = static_cast<std::uint16_t>(std::stoul(said.substr(said.rfind(':') + 1)));
    TlsContext client = context(TlsRole::Client);
    try {
        const TlsChannel channel(client,
                                 net::connect_tcp(util::Address::parse("127.0.0.1", port).value(),
                                                  std::nullopt, limit()),
                                 limit());
        FAIL() << "TLS 1.2 was accepted";
    } catch (const util::Error& error) {
        expect_has(error.what(), "does not support TLS 1.3");
    }
    s_server.signal(SIGKILL);  // the stop signals are blocked, also in child processes
}

TEST_F(TlsPeers, who_speaks_no_tls_is_named) {
    expect_has(meet_speech("RWLX, as the step before says it"), "does not speak TLS");
    expect_has(meet_speech("GET / HTTP/1.1\r\n\r\n"), "it speaks HTTP instead of TLS");
    expect_has(meet_speech(""), "closed the connection during the exchange");
}

TEST_F(TlsPeers, who_says_nothing_is_not_waited_for_longer_than_the_time) {
    const auto silent = net::connect_tcp(listener_.address(), std::nullopt, limit());
    const auto begin = util::Clock::now();
    expect_has(serve_one(milliseconds(200)), "did not respond in time during the exchange");
    const auto took = util::Clock::now() - begin;
    EXPECT_GE(took, milliseconds(200));
    EXPECT_LT(took, milliseconds(3000));
}

TEST_F(TlsPeers, a_server_that_speaks_no_tls_is_named) {
    TlsContext client = context(TlsRole::Client);
    const std::jthread plain([&] {
        auto socket = listener_.accept(limit());
        const std::string_view speech = "220 mail.example ESMTP\r\n";
        EXPECT_GT(send(socket->fd.get(), speech.data(), speech.size(), MSG_NOSIGNAL), 0);
        std::array<std::byte, 2048> heard{};
        EXPECT_NO_THROW(net::wait_for(*socket, true, limit()));
        EXPECT_GT(recv(socket->fd.get(), heard.data(), heard.size(), 0), 0);
    });
    try {
        const TlsChannel channel(
            client, net::connect_tcp(listener_.address(), std::nullopt, limit()), limit());
        ADD_FAILURE() << "that was no TLS";
    } catch (const util::Error& error) {
        expect_has(error.what(), "does not speak TLS");
    }
}

}  // namespace tls_peers_test
