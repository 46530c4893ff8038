// What the steps with a TLS exchange have in common: where the certificates are, whom to expect,
// and what of the secrets a person asked to see.
#pragma once

#include <memory>
#include <string>

#include "exchange/tls.hpp"
#include "runlog/log.hpp"

namespace lesson {

struct SecureOptions {
    std::string certificates = "build/certs";  // --certs: ca.crt, and this role's .crt and .key
    std::string peer_name;                     // --server-name, --client-name
    bool show_psn = false;                     // --show-psn
    std::string keylog;                        // --keylog: a file, or "-" for the run log
};

/// The files of `make certs` for this role, checked and loaded. Unless they were asked for, PSNs
/// are kept out of the log from here on; TLS secrets go nowhere. Throws util::Error.
std::unique_ptr<exchange::TlsContext> open_tls(exchange::TlsRole role, const SecureOptions& options,
                                               runlog::Log& log);

}  // namespace lesson
