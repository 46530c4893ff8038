// What the steps with a TLS exchange have in common: where the certificates are, whom to expect,
// and what of the secrets a person asked to see.
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

/// This role's files of `make certs`.
net::TlsFiles tls_files(net::TlsRole role, const SecureOptions& options);

/// Keeps PSNs out of the log from here on and TLS secrets out of every file, unless they were asked
/// for. Throws util::Error where the key log cannot be written.
void reveal_what_was_asked_for(net::TlsContext& tls, const SecureOptions& options,
                               runlog::Log& log);

}  // namespace common
