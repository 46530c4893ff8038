#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "exchange/tls.hpp"
#include "util/error.hpp"

namespace exchange {
namespace {

[[noreturn]] void refuse_file(const std::string& file, std::string_view why) {
    throw util::Error(
        fmt::format("cannot use {}: {}. `make certs` makes the lab's certificates.", file, why));
}

std::string last_reason() {
    const char* words = ERR_reason_error_string(ERR_peek_last_error());
    return words != nullptr ? words : "it is no PEM file of this kind";
}

void check_readable(const std::string& file) {
    if (access(file.c_str(), R_OK) != 0)
        refuse_file(file, std::strerror(errno));
}

void check_private(const std::string& file) {
    struct stat status {};
    if (stat(file.c_str(), &status) != 0)
        refuse_file(file, std::strerror(errno));
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        throw util::Error(fmt::format(
            "the private key {} can be used by others than its owner: chmod 600 it.", file));
}

}  // namespace

void TlsContext::Free::operator()(ssl_ctx_st* context) const {
    SSL_CTX_free(context);
}

void TlsContext::Free::operator()(ssl_session_st* session) const {
    SSL_SESSION_free(session);
}

TlsContext::TlsContext(TlsRole role, const TlsFiles& files, std::string peer_name)
    : role_(role),
      files_(files),
      peer_name_(std::move(peer_name)),
      context_(SSL_CTX_new(role == TlsRole::Client ? TLS_client_method() : TLS_server_method())) {
    SSL_CTX* context = context_.get();
    if (context == nullptr)
        throw util::Error("OpenSSL cannot be used: " + last_reason() + ".");
    std::signal(SIGPIPE, SIG_IGN);
    SSL_CTX_set_app_data(context, this);
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    // OpenSSL's own list has finite fields of up to 8192 bits, too: each such handshake, which a
    // client without a certificate can ask for, costs a server a hundred times as much.
    if (SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384") != 1)
        throw util::Error(
            "OpenSSL has none of the groups X25519, P-256 and P-384: " + last_reason() + ".");
    // This side's certificate goes alone, as the peer has the CA's: left to itself, OpenSSL
    // verifies its own chain in each handshake so as to send the CA's along. Between two messages a
    // connection keeps no buffers, as a server has many that are silent; and what waits to be
    // written may move in memory as more is added behind it.
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);

    for (const std::string& file : {files.ca, files.certificate, files.key})
        check_readable(file);
    check_private(files.key);
    if (SSL_CTX_load_verify_file(context, files.ca.c_str()) != 1)
        refuse_file(files.ca, last_reason());
    if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1)
        refuse_file(files.certificate, last_reason());
    if (SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1)
        refuse_file(files.key, last_reason());
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
        // there is no key of tickets to lose, and on the way back nothing, the client's certificate
        // least of all, has to be decrypted and parsed.
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
        return 1;  // the session is ours now
    });
}

}  // namespace exchange
