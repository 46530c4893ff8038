// The exchange in secret: TLS 1.3 and nothing older, with a certificate on each side. Each side
// checks that the other's was issued by the CA that both were given, for this use, for the time of
// the moment, and for the name that it expects (RFC 8446; RFC 5280; RFC 9525).
//
// What this protects is the exchange. RoCE packets themselves are neither encrypted nor
// authenticated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/channel.hpp"
#include "net/tcp.hpp"

struct ssl_st;
struct ssl_ctx_st;
struct ssl_session_st;
struct x509_store_ctx_st;

namespace net {

enum class TlsRole : std::uint8_t { Client, Server };

/// Names of PEM files.
struct TlsFiles {
    std::string ca;           // the only CA that is trusted
    std::string certificate;  // this side's own, issued by that CA
    std::string key;          // its private key, for its owner's eyes alone (mode 0600)
};

struct SslContextDeleter {
    void operator()(ssl_ctx_st* context) const;
};
using SslContext = std::unique_ptr<ssl_ctx_st, SslContextDeleter>;

/// Throws util::Error where a file cannot be read, or where others may read the key.
void check_files(const TlsFiles& files);

/// Throws util::Error with OpenSSL's reason unless `result` is 1. `what`: what OpenSSL was to use, a
/// file for example.
void check_tls(long result, const std::string& what);

/// What all connections of a program have in common. Must outlive them. They may belong to several
/// threads, but for those that resume sessions.
class TlsContext {
  public:
    /// `context`: set up for this role (step 07's make_ssl_context()): it has these files, verifies
    /// the peer's certificate, and expects `peer_name` in it. From here on the process ignores
    /// SIGPIPE: OpenSSL writes to sockets as to files. Throws util::Error where the peer's
    /// certificate would not be verified.
    TlsContext(TlsRole role, TlsFiles files, std::string peer_name, SslContext context);
    ~TlsContext();
    TlsContext(const TlsContext&) = delete;
    TlsContext& operator=(const TlsContext&) = delete;
    TlsContext(TlsContext&&) = delete;
    TlsContext& operator=(TlsContext&&) = delete;

    /// Hands each secret of each connection to `write`, as a line of an NSS key log (without the
    /// line feed). Whoever has these lines can read what TLS protects.
    void log_secrets(std::function<void(std::string_view line)> write);

    /// Server: hand out tickets. Client: come back with the last one, which saves the certificates
    /// and their signatures; the key exchange stays (RFC 8446, 2.2). Off unless called.
    void resume_sessions();

    TlsRole role() const { return role_; }
    const std::string& peer_name() const { return peer_name_; }
    const TlsFiles& files() const { return files_; }

  private:
    friend class TlsStream;
    struct Free {
        void operator()(ssl_session_st* session) const;
    };

    TlsRole role_;
    TlsFiles files_;
    std::string peer_name_;
    SslContext context_;
    std::unique_ptr<ssl_session_st, Free> session_;  // of a client that resumes
    std::function<void(std::string_view)> write_secret_;
};

/// What a call on a stream that never waits has come to. WantRead, WantWrite: call again once the
/// socket can be read or written. Closed: the peer has said that nothing follows.
enum class Progress : std::uint8_t { Done, WantRead, WantWrite, Closed };

/// One TLS connection over a socket that does not block, for programs with an event loop of their
/// own. Every failure throws util::Error with a sentence that names the peer; after that, the
/// stream is of no use any more.
class TlsStream {
  public:
    TlsStream(TlsContext& context, Socket socket);
    /// Tells the peer that nothing follows, where it can be told without waiting.
    ~TlsStream();
    TlsStream(const TlsStream&) = delete;
    TlsStream& operator=(const TlsStream&) = delete;
    TlsStream(TlsStream&&) = delete;
    TlsStream& operator=(TlsStream&&) = delete;

    /// Until Done nothing can be read or written. For a client, Done does not yet mean that the
    /// server has accepted its certificate: that comes with the first thing it receives.
    Progress handshake();
    /// Done: `got` bytes, at least one, were read.
    Progress read(std::span<std::byte> room, std::size_t& got);
    /// Done: `put` bytes, at least one, were written. The same bytes again after a Want.
    Progress write(util::Bytes bytes, std::size_t& put);

    /// Tells the peer that nothing follows, and closes this direction of the connection: what is
    /// left is to read until the peer has closed, too. A socket that is closed earlier, while bytes
    /// of the peer's lie unread in it, is reset, and with it goes what the peer was to read.
    void end();

    const Socket& socket() const { return socket_; }
    bool was_resumed() const;

  private:
    friend class TlsContext;
    struct Free {
        void operator()(ssl_st* ssl) const;
    };
    static int on_verify(int is_good, x509_store_ctx_st* store);
    template <typename Call>
    Progress progress_of(Call call);
    [[noreturn]] void fail(unsigned long error, int system_error);

    TlsContext& context_;
    Socket socket_;
    std::unique_ptr<ssl_st, Free> ssl_;
    std::string objection_;  // why the peer's certificate was refused; written while it is checked
    std::exception_ptr unwritten_;  // what writing a secret threw: nothing may fly through OpenSSL
    bool is_up_ = false;
};

/// A stream whose calls wait.
class TlsChannel : public Channel {
  public:
    /// Shakes hands. Throws util::Error with the reason where one side refuses the other; a server
    /// then waits, a second at most, for the client to have read it.
    TlsChannel(TlsContext& context, Socket socket, const TimeLimit& limit);

    void send(util::Bytes bytes, const TimeLimit& limit) override;
    void receive(std::span<std::byte> bytes, const TimeLimit& limit) override;
    std::string_view name() const override { return "TLS 1.3"; }
    const util::Address& peer() const override { return socket().peer; }
    const Socket& socket() const { return stream_.socket(); }
    bool was_resumed() const { return stream_.was_resumed(); }
    /// Says that nothing follows, and waits, a second at most, until the peer has said so, too.
    void close(const TimeLimit& limit);

  private:
    TlsStream stream_;
};

}  // namespace net
