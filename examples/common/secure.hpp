// What the lessons with a TLS exchange have in common: certificates, the peer's expected name, and
// which secrets may be written.
#pragma once

#include <string>

#include "net/tls.hpp"
#include "runlog/log.hpp"

namespace common {

struct SecureOptions {
    std::string certificates = "build/certs";  // --certs: ca.crt, and this role's .crt and .key
    std::string peer_name;                     // --server-name, --client-name
    bool show_psn = false;                     // --show-psn
    std::string keylog;                        // --keylog: a file, or "-" for the run log
};

/// The files that `make certs` creates for this role.
net::TlsFiles tls_files(net::TlsRole role, const SecureOptions& options);

/// Keeps PSNs out of the log from now on and TLS secrets out of every file, unless the user asked
/// for them. Throws util::Error if the key log cannot be written.
void reveal_what_was_asked_for(net::TlsContext& tls, const SecureOptions& options,
                               runlog::Log& log);

}  // namespace common
