// The exchange with encryption: TLS 1.3 only, with a certificate on each side. Each side checks
// that the other's certificate was issued by the CA given to both, and is valid for this use, at
// this time, and for the expected name (RFC 8446; RFC 5280; RFC 9525).
//
// This protects only the exchange. RoCE packets themselves are neither encrypted nor authenticated.
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
    std::string ca;           // the only trusted CA
    std::string certificate;  // this side's own, issued by that CA
    std::string key;          // its private key, readable by its owner only (mode 0600)
};

struct SslContextDeleter {
    void operator()(ssl_ctx_st* context) const;
};
using SslContext = std::unique_ptr<ssl_ctx_st, SslContextDeleter>;

/// Throws util::Error if a file cannot be read, or if others may read the key.
void check_files(const TlsFiles& files);

/// Throws util::Error with OpenSSL's reason unless `result` is 1. `what`: the object that OpenSSL
/// was to use, such as a file.
void check_tls(long result, const std::string& what);

/// State shared by all connections of a program. Must outlive them. They may belong to several
/// threads, except those that resume sessions.
class TlsContext {
  public:
    /// `context`: configured for this role (lesson 07's make_ssl_context()): it has these files,
    /// verifies the peer's certificate, and expects `peer_name` in it. From now on the process
    /// ignores SIGPIPE: OpenSSL writes to sockets as to files. Throws util::Error if the peer's
    /// certificate would not be verified.
    TlsContext(TlsRole role, TlsFiles files, std::string peer_name, SslContext context);
    ~TlsContext();
    TlsContext(const TlsContext&) = delete;
    TlsContext& operator=(const TlsContext&) = delete;
    TlsContext(TlsContext&&) = delete;
    TlsContext& operator=(TlsContext&&) = delete;

    /// Passes each secret of each connection to `write`, as a line of an NSS key log (without the
    /// line feed). Anyone with these lines can decrypt the TLS connections.
    void log_secrets(std::function<void(std::string_view line)> write);

    /// Server: issues tickets. Client: reconnects with the last ticket, which saves the
    /// certificates and their signatures, but not the key exchange (RFC 8446, 2.2). Off by default.
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
    std::unique_ptr<ssl_session_st, Free> session_;  // only in a client that resumes
    std::function<void(std::string_view)> write_secret_;
};

/// Result of a call on a non-blocking stream. WantRead, WantWrite: call again once the socket is
/// readable or writable. Closed: the peer has closed its direction.
enum class Progress : std::uint8_t { Done, WantRead, WantWrite, Closed };

/// One TLS connection over a non-blocking socket, for programs with their own event loop. All
/// failures throw util::Error with a message that names the peer; after that, the stream is
/// unusable.
class TlsStream {
  public:
    TlsStream(TlsContext& context, Socket socket);
    /// Sends close_notify to the peer if that is possible without waiting.
    ~TlsStream();
    TlsStream(const TlsStream&) = delete;
    TlsStream& operator=(const TlsStream&) = delete;
    TlsStream(TlsStream&&) = delete;
    TlsStream& operator=(TlsStream&&) = delete;

    /// Nothing can be read or written until Done. For a client, Done does not mean that the server
    /// has accepted its certificate: the first received data shows that.
    Progress handshake();
    /// Done: `got` bytes, at least one, were read.
    Progress read(std::span<std::byte> room, std::size_t& got);
    /// Done: `put` bytes, at least one, were written. After a Want, pass the same bytes again.
    Progress write(util::Bytes bytes, std::size_t& put);

    /// Tells the peer that nothing follows, and closes this direction of the connection. The caller
    /// must then read until the peer has closed, too: closing a socket earlier, with unread bytes
    /// of the peer, resets the connection and loses data that the peer has yet to read.
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
    std::string objection_;  // why the peer's certificate was refused; set during verification
    std::exception_ptr unwritten_;  // thrown by a secret's writer: may not pass through OpenSSL
    bool is_up_ = false;
};

/// A blocking stream.
class TlsChannel : public Channel {
  public:
    /// Does the handshake. Throws util::Error with the reason if one side refuses the other; a
    /// server then waits, at most a second, until the client has read the reason.
    TlsChannel(TlsContext& context, Socket socket, const TimeLimit& limit);

    void send(util::Bytes bytes, const TimeLimit& limit) override;
    void receive(std::span<std::byte> bytes, const TimeLimit& limit) override;
    std::string_view name() const override { return "TLS 1.3"; }
    const util::Address& peer() const override { return socket().peer; }
    const Socket& socket() const { return stream_.socket(); }
    bool was_resumed() const { return stream_.was_resumed(); }
    /// Sends close_notify, and waits, at most a second, for the peer's.
    void close(const TimeLimit& limit);

  private:
    TlsStream stream_;
};

}  // namespace net
