// The exchange over TLS on loopback between our own ends: accepted and refused connections, and
// which end refuses. tests/net/tls_peers_test.cpp tests other programs.
#include "net/tls.hpp"

#include <array>
#include <filesystem>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "support/certificates.hpp"
#include "support/error_text.hpp"
#include "support/temp_path.hpp"
#include "util/error.hpp"

namespace tls_test {

using net::TimeLimit;
using net::TlsChannel;
using net::TlsContext;
using net::TlsFiles;
using net::TlsRole;
using std::chrono::milliseconds;

// The configuration of one end.
struct End {
    std::string trusted;  // folder with the CA it trusts
    std::string own;      // folder with its certificate
    std::string peer_name;
};

class Tls : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        folders = new support::TempPath("tls_test");
        support::make_certificates(folder("lab"));
        support::make_certificates(folder("other"));
        support::make_certificates(folder("renamed"), {"CERTS_SERVER_NAME=somebody-else",
                                                       "CERTS_CLIENT_NAME=somebody-else"});
        // The same CA, so that only the dates are invalid.
        for (const char* file : {"ca.crt", "ca.key"}) {
            std::filesystem::create_directories(folder("expired"));
            std::filesystem::copy_file(folder("lab") + "/" + file, folder("expired") + "/" + file);
        }
        support::make_certificates(folder("expired"), {"CERTS_DAYS=-1"});
    }
    static void TearDownTestSuite() { delete folders; }
    static std::string folder(const std::string& name) { return folders->str() + "/" + name; }

    TimeLimit limit(milliseconds time = milliseconds(5000)) {
        return {stop_, util::deadline_in(time)};
    }

    // The error of each end; empty if there was none.
    struct Outcome {
        std::string client;
        std::string server;
    };

    // Makes one connection. Each end sends and receives four bytes; the client sends first.
    Outcome talk(TlsContext& client, TlsContext& server) {
        net::TcpListener listener(util::Address::parse("127.0.0.1", 0).value());
        Outcome outcome;
        std::jthread serving([&] {
            outcome.server = support::error_text([&] {
                auto socket = listener.accept(limit());
                TlsChannel channel(server, std::move(socket.value()), limit());
                std::array<std::byte, 4> bytes{};
                channel.receive(bytes, limit());
                channel.send(bytes, limit());
            });
        });
        outcome.client = support::error_text([&] {
            TlsChannel channel(client, net::connect_tcp(listener.address(), std::nullopt, limit()),
                               limit());
            was_resumed_ = channel.was_resumed();
            std::array<std::byte, 4> bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
            const auto sent = bytes;
            channel.send(bytes, limit());
            channel.receive(bytes, limit());
            EXPECT_EQ(bytes, sent);
        });
        serving.join();
        return outcome;
    }

    Outcome talk(const End& client, const End& server) {
        TlsContext client_context = context(TlsRole::Client, client);
        TlsContext server_context = context(TlsRole::Server, server);
        return talk(client_context, server_context);
    }

    static TlsContext context(TlsRole role, const End& end) {
        return support::tls_context(
            role, support::files_of(role, folder(end.trusted), folder(end.own)), end.peer_name);
    }

    static inline const End good_client{"lab", "lab", "rdma-server"};
    static inline const End good_server{"lab", "lab", "rdma-client"};
    static inline support::TempPath* folders = nullptr;

    util::StopSignal stop_;
    bool was_resumed_ = false;
};

void expect_has(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << "'" << text << "' has no '" << part << "'";
}

TEST_F(Tls, two_that_know_each_other_talk) {
    const Outcome outcome = talk(good_client, good_server);
    EXPECT_EQ(outcome.client, "");
    EXPECT_EQ(outcome.server, "");
}

TEST_F(Tls, a_server_of_another_ca_is_refused) {
    const Outcome outcome = talk(good_client, {"lab", "other", "rdma-client"});
    expect_has(outcome.client, "is refused: its certificate was not issued by the CA in");
    expect_has(outcome.server, "refuses this server:");
    expect_has(outcome.server, "was not issued by the CA that it trusts");
}

TEST_F(Tls, a_client_of_another_ca_is_refused) {
    const Outcome outcome = talk({"lab", "other", "rdma-server"}, good_server);
    expect_has(outcome.server, "is refused: its certificate was not issued by the CA in");
    expect_has(outcome.client, "refuses this client:");
    expect_has(outcome.client, "was not issued by the CA that it trusts");
}

TEST_F(Tls, a_server_of_another_name_is_refused) {
    const Outcome outcome =
        talk({"renamed", "renamed", "rdma-server"}, {"renamed", "renamed", "somebody-else"});
    expect_has(outcome.client,
               "is refused: its certificate is for somebody-else, and rdma-server is expected.");
    expect_has(outcome.server, "is not the expected one");
}

TEST_F(Tls, a_client_of_another_name_is_refused) {
    const Outcome outcome =
        talk({"renamed", "renamed", "somebody-else"}, {"renamed", "renamed", "rdma-client"});
    expect_has(outcome.server,
               "is refused: its certificate is for somebody-else, and rdma-client is expected.");
    expect_has(outcome.client, "is not the expected one");
}

TEST_F(Tls, an_expired_server_is_refused) {
    const Outcome outcome = talk(good_client, {"lab", "expired", "rdma-client"});
    expect_has(outcome.client, "is refused: its certificate expired 20");
    expect_has(outcome.server, "has expired");
}

TEST_F(Tls, an_expired_client_is_refused) {
    const Outcome outcome = talk({"lab", "expired", "rdma-server"}, good_server);
    expect_has(outcome.server, "is refused: its certificate expired 20");
    expect_has(outcome.client, "has expired");
}

TEST_F(Tls, a_clients_certificate_makes_no_server) {
    TlsContext client = context(TlsRole::Client, {"lab", "lab", "rdma-client"});
    TlsFiles files = support::files_of(TlsRole::Client, folder("lab"), folder("lab"));
    TlsContext server = support::tls_context(TlsRole::Server, files, "rdma-client");
    const Outcome outcome = talk(client, server);
    expect_has(outcome.client, "is refused: its certificate is not valid for a server.");
    expect_has(outcome.server, "is not valid for a server");
}

TEST_F(Tls, a_session_is_resumed_only_where_both_asked_for_it) {
    for (const bool server_resumes : {false, true}) {
        TlsContext client = context(TlsRole::Client, good_client);
        TlsContext server = context(TlsRole::Server, good_server);
        client.resume_sessions();
        if (server_resumes)
            server.resume_sessions();
        for (const bool is_second : {false, true}) {
            const Outcome outcome = talk(client, server);
            EXPECT_EQ(outcome.client + outcome.server, "");
            EXPECT_EQ(was_resumed_, is_second && server_resumes);
        }
    }
}

TEST_F(Tls, secrets_are_written_where_asked_for_and_what_that_throws_comes_back) {
    TlsContext client = context(TlsRole::Client, good_client);
    TlsContext server = context(TlsRole::Server, good_server);
    std::set<std::string> labels;
    client.log_secrets(
        [&](std::string_view line) { labels.emplace(line.substr(0, line.find(' '))); });
    EXPECT_EQ(talk(client, server).client, "");
    EXPECT_TRUE(labels.contains("CLIENT_TRAFFIC_SECRET_0"));
    EXPECT_TRUE(labels.contains("SERVER_TRAFFIC_SECRET_0"));
    client.log_secrets([](std::string_view) { throw util::Error("the disk is full"); });
    EXPECT_EQ(talk(client, server).client, "the disk is full");
}

TEST_F(Tls, a_key_that_others_can_read_is_refused) {
    const support::TempPath copy("tls_test_copy");
    std::filesystem::copy(folder("lab"), copy.str());
    const TlsFiles files = support::files_of(TlsRole::Server, copy.str(), copy.str());
    std::filesystem::permissions(files.key, std::filesystem::perms::group_read,
                                 std::filesystem::perm_options::add);
    const std::string error = support::error_text(
        [&] { const auto context = support::tls_context(TlsRole::Server, files, "rdma-client"); });
    expect_has(error, "is accessible to other users: restrict it with chmod 600.");
}

TEST_F(Tls, a_missing_file_a_strange_one_and_a_strange_key_are_named) {
    TlsFiles files = support::files_of(TlsRole::Server, folder("lab"), folder("lab"));
    const auto error_with = [](const TlsFiles& given) {
        return support::error_text([&] {
            const auto context = support::tls_context(TlsRole::Server, given, "rdma-client");
        });
    };
    TlsFiles missing = files;
    missing.certificate = folder("lab") + "/none.crt";
    expect_has(error_with(missing), "none.crt: No such file or directory. `make certs`");
    TlsFiles strange = files;
    strange.certificate = files.key;
    expect_has(error_with(strange), "cannot use " + files.key);
    TlsFiles other_key = files;
    other_key.key = support::files_of(TlsRole::Server, folder("other"), folder("other")).key;
    expect_has(error_with(other_key), "key values mismatch");
}

TEST_F(Tls, the_script_keeps_what_holds_and_its_keys_are_private) {
    const auto stamp = [&] {
        return std::filesystem::last_write_time(folder("lab") + "/server.crt");
    };
    const auto before = stamp();
    support::make_certificates(folder("lab"));
    EXPECT_EQ(stamp(), before);
    using std::filesystem::perms;
    for (const char* key : {"/ca.key", "/server.key", "/client.key"})
        EXPECT_EQ(std::filesystem::status(folder("lab") + key).permissions(),
                  perms::owner_read | perms::owner_write);
    const auto checked = support::run({"openssl", "verify", "-purpose", "sslserver", "-CAfile",
                                       folder("lab") + "/ca.crt", folder("lab") + "/server.crt"});
    EXPECT_EQ(checked.exit_code, 0) << checked.all();
}

}  // namespace tls_test
