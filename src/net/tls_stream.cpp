#include <cerrno>
#include <sys/socket.h>
#include <utility>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "net/tls.hpp"
#include "net/tls_refusal.hpp"
#include "util/error.hpp"

namespace net {

void TlsStream::Free::operator()(ssl_st* ssl) const {
    SSL_free(ssl);
}

TlsStream::TlsStream(TlsContext& context, Socket socket)
    : context_(context), socket_(std::move(socket)), ssl_(SSL_new(context.context_.get())) {
    SSL* ssl = ssl_.get();
    if (ssl == nullptr || SSL_set_fd(ssl, socket_.fd.get()) != 1)
        throw util::Error("OpenSSL does not have enough memory for another connection.");
    SSL_set_app_data(ssl, this);
    SSL_set_verify(ssl, SSL_get_verify_mode(ssl), on_verify);
    if (context.role_ == TlsRole::Server)
        SSL_set_accept_state(ssl);
    else
        SSL_set_connect_state(ssl);
    if (context.session_)
        SSL_set_session(ssl, context.session_.get());
}

TlsStream::~TlsStream() {
    if (is_up_)
        SSL_shutdown(ssl_.get());
    ERR_clear_error();
}

void TlsStream::end() {
    if (is_up_)
        SSL_shutdown(ssl_.get());
    is_up_ = false;
    ERR_clear_error();
    shutdown(socket_.fd.get(), SHUT_WR);
}

// Saves the reason: later, OpenSSL itself only reports "verify failed".
int TlsStream::on_verify(int is_good, X509_STORE_CTX* store) {
    if (is_good == 0) {
        const void* ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
        auto* stream = static_cast<TlsStream*>(SSL_get_app_data(static_cast<const SSL*>(ssl)));
        stream->objection_ = objection_to(store, stream->context_);
    }
    return is_good;
}

// SSL_get_error(3) reads the thread's error queue, which must be empty before the call.
template <typename Call>
Progress TlsStream::progress_of(Call call) {
    ERR_clear_error();
    errno = 0;
    const int result = call();
    const int system_error = errno;
    if (unwritten_)
        std::rethrow_exception(std::exchange(unwritten_, nullptr));
    if (result == 1)
        return Progress::Done;
    switch (SSL_get_error(ssl_.get(), result)) {
        case SSL_ERROR_WANT_READ:
            return Progress::WantRead;
        case SSL_ERROR_WANT_WRITE:
            return Progress::WantWrite;
        case SSL_ERROR_ZERO_RETURN:
            return Progress::Closed;
        case SSL_ERROR_SSL:
            fail(ERR_peek_error(), 0);
        default:
            fail(0, system_error);
    }
}

Progress TlsStream::handshake() {
    const Progress progress = progress_of([&] { return SSL_do_handshake(ssl_.get()); });
    is_up_ = progress == Progress::Done;
    return progress;
}

Progress TlsStream::read(std::span<std::byte> room, std::size_t& got) {
    return progress_of([&] { return SSL_read_ex(ssl_.get(), room.data(), room.size(), &got); });
}

Progress TlsStream::write(util::Bytes bytes, std::size_t& put) {
    return progress_of([&] { return SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &put); });
}

bool TlsStream::was_resumed() const {
    return SSL_session_reused(ssl_.get()) == 1;
}

void TlsStream::fail(unsigned long error, int system_error) {
    is_up_ = false;
    throw util::Error(sentence_of(error, system_error, objection_, socket_.peer.text(), context_));
}

}  // namespace net
