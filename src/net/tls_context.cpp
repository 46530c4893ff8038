#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "net/tls.hpp"
#include "util/error.hpp"

namespace net {
namespace {

[[noreturn]] void refuse(const std::string& what, std::string_view why) {
    throw util::Error(
        fmt::format("cannot use {}: {}. `make certs` creates the lab's certificates.", what, why));
}

std::string last_reason() {
    const char* words = ERR_reason_error_string(ERR_peek_last_error());
    return words != nullptr ? words : "it is not a PEM file of this kind";
}

void check_readable(const std::string& file) {
    if (access(file.c_str(), R_OK) != 0)
        refuse(file, std::strerror(errno));
}

void check_private(const std::string& file) {
    struct stat status {};
    if (stat(file.c_str(), &status) != 0)
        refuse(file, std::strerror(errno));
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        throw util::Error(fmt::format(
            "the private key {} is accessible to other users: restrict it with chmod 600.", file));
}

}  // namespace

void check_files(const TlsFiles& files) {
    for (const std::string& file : {files.ca, files.certificate, files.key})
        check_readable(file);
    check_private(files.key);
}

void check_tls(long result, const std::string& what) {
    if (result != 1)
        refuse(what, last_reason());
}

void SslContextDeleter::operator()(ssl_ctx_st* context) const {
    SSL_CTX_free(context);
}

void TlsContext::Free::operator()(ssl_session_st* session) const {
    SSL_SESSION_free(session);
}

TlsContext::TlsContext(TlsRole role, TlsFiles files, std::string peer_name, SslContext context)
    : role_(role),
      files_(std::move(files)),
      peer_name_(std::move(peer_name)),
      context_(std::move(context)) {
    constexpr int mutual = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    if ((SSL_CTX_get_verify_mode(context_.get()) & mutual) != mutual)
        throw util::Error(
            "TLS does not protect the exchange unless both sides verify the peer's certificate.");
    std::signal(SIGPIPE, SIG_IGN);
    SSL_CTX_set_app_data(context_.get(), this);
    // Send only this side's certificate, since the peer has the CA's: by default, OpenSSL verifies
    // its own chain in each handshake to send the CA's, too. Release buffers between messages,
    // since a server has many idle connections. Unsent data may move in memory when more is
    // appended.
    SSL_CTX_set_mode(context_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                         SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                         SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_num_tickets(context_.get(), 0);
    SSL_CTX_set_session_cache_mode(context_.get(), SSL_SESS_CACHE_OFF);
}

TlsContext::~TlsContext() = default;

void TlsContext::log_secrets(std::function<void(std::string_view)> write) {
    write_secret_ = std::move(write);
    SSL_CTX_set_keylog_callback(context_.get(), [](const SSL* ssl, const char* line) {
        auto* self = static_cast<TlsContext*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
        try {
            self->write_secret_(line);
        } catch (...) {
            static_cast<TlsStream*>(SSL_get_app_data(ssl))->unwritten_ = std::current_exception();
        }
    });
}

void TlsContext::resume_sessions() {
    SSL_CTX* context = context_.get();
    if (role_ == TlsRole::Server) {
        static constexpr unsigned char id[] = "RDMA Wire Lab";
        // The session stays here, and a ticket is its number in the cache (SSL_CTX_set_options(3)):
        // there is no ticket key to lose, and resuming needs no decryption or parsing, of the
        // client's certificate in particular.
        SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_SERVER);
        SSL_CTX_set_num_tickets(context, 1);
        SSL_CTX_set_session_id_context(context, id, sizeof id - 1);
        return;
    }
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, [](SSL* ssl, SSL_SESSION* session) {
        static_cast<TlsContext*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)))
            ->session_.reset(session);
        return 1;  // takes ownership of the session
    });
}

}  // namespace net
