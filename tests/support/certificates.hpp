// Certificates for tests, created by the lab's script.
#pragma once

#include <stdexcept>
#include <string>

#include "examples/07_secure_psn/tls.hpp"
#include "net/tls.hpp"
#include "support/process.hpp"

namespace support {

/// Creates a CA and certificates of a server and a client in `folder`. `settings`: CERTS_DAYS=….
inline void make_certificates(const std::string& folder, const Argv& settings = {}) {
    const Outcome made = run({"lab/certs", folder}, settings);
    if (made.exit_code != 0)
        throw std::runtime_error("lab/certs: " + made.all());
}

/// The files of one role. The folder `trusted` contains the CA's certificate, `own` the role's
/// certificate and key.
inline net::TlsFiles files_of(net::TlsRole role, const std::string& trusted,
                              const std::string& own) {
    const std::string base = own + (role == net::TlsRole::Client ? "/client" : "/server");
    return {.ca = trusted + "/ca.crt", .certificate = base + ".crt", .key = base + ".key"};
}

inline net::TlsContext tls_context(net::TlsRole role, const net::TlsFiles& files,
                                   const std::string& peer_name) {
    return {role, files, peer_name, lesson07::make_ssl_context(role, files, peer_name)};
}

}  // namespace support
