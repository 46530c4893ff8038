// The sentence that explains why a TLS connection failed. For the files of net/tls.hpp only.
#pragma once

#include <string>

#include <openssl/ssl.h>

#include "net/tls.hpp"

namespace net {

/// What is wrong with the peer's certificate, for "… is refused: ". `store`: as a verify callback
/// gets it (SSL_CTX_set_verify(3)).
std::string objection_to(X509_STORE_CTX* store, const TlsContext& context);

/// The whole sentence about a failed call. `error`: OpenSSL's code of it, 0 where it was the
/// system's, `system_error`, 0 where the peer just closed. `objection`: what objection_to() said,
/// if it did.
std::string sentence_of(unsigned long error, int system_error, const std::string& objection,
                        const std::string& peer, const TlsContext& context);

}  // namespace net
