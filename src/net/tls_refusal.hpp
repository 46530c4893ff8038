// Explains why a TLS connection failed. For the files of net/tls.hpp only.
#pragma once

#include <string>

#include <openssl/ssl.h>

#include "net/tls.hpp"

namespace net {

/// Returns what is wrong with the peer's certificate, for "… is refused: ". `store`: the argument
/// of a verify callback (SSL_CTX_set_verify(3)).
std::string objection_to(X509_STORE_CTX* store, const TlsContext& context);

/// Returns the full sentence about a failed call. `error`: OpenSSL's error code, 0 for a system
/// error. `system_error`: the errno value of that. `objection`: result of
/// objection_to(), if any.
std::string sentence_of(unsigned long error, int system_error, const std::string& objection,
                        const std::string& peer, const TlsContext& context);

}  // namespace net
