// Lesson 07, both sides: TLS 1.3 with a certificate on each side, set up with OpenSSL.
#pragma once

#include <memory>
#include <string>

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "examples/common/secure.hpp"
#include "net/tls.hpp"

namespace lesson07 {

/// `peer_name`: DNS name that must be among the subjectAltNames of the peer's certificate. Throws
/// util::Error if a file is missing or invalid.
inline net::SslContext make_ssl_context(net::TlsRole role, const net::TlsFiles& files,
                                        const std::string& peer_name) {
    using net::check_tls;
    net::SslContext context{
        SSL_CTX_new(role == net::TlsRole::Client ? TLS_client_method() : TLS_server_method())};
    SSL_CTX* tls = context.get();
    check_tls(tls != nullptr, "SSL_CTX_new");

    // TLS 1.3 only. The default groups include finite fields of up to 8192 bits: a client without a
    // certificate could make the server spend CPU time on them.
    check_tls(SSL_CTX_set_min_proto_version(tls, TLS1_3_VERSION), "TLS 1.3");
    check_tls(SSL_CTX_set1_groups_list(tls, "X25519:P-256:P-384"), "X25519, P-256 and P-384");

    // This side's identity: a certificate and its private key.
    net::check_files(files);
    check_tls(SSL_CTX_use_certificate_chain_file(tls, files.certificate.c_str()),
              files.certificate);
    check_tls(SSL_CTX_use_PrivateKey_file(tls, files.key.c_str(), SSL_FILETYPE_PEM), files.key);

    // The peer's identity. Each side must present a certificate for this name, issued by the only
    // trusted CA.
    check_tls(SSL_CTX_load_verify_file(tls, files.ca.c_str()), files.ca);
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    X509_VERIFY_PARAM* checks = SSL_CTX_get0_param(tls);
    X509_VERIFY_PARAM_set_hostflags(
        checks, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    check_tls(X509_VERIFY_PARAM_set1_host(checks, peer_name.c_str(), peer_name.size()),
              "the name '" + peer_name + "'");
    return context;
}

/// The same from command-line options. Keeps PSNs out of the log from now on, unless the user asked
/// for them.
inline std::unique_ptr<net::TlsContext> open_tls(net::TlsRole role,
                                                 const common::SecureOptions& options,
                                                 runlog::Log& log) {
    const net::TlsFiles files = common::tls_files(role, options);
    auto tls = std::make_unique<net::TlsContext>(role, files, options.peer_name,
                                                 make_ssl_context(role, files, options.peer_name));
    common::reveal_what_was_asked_for(*tls, options, log);
    return tls;
}

}  // namespace lesson07
