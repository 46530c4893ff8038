#include "examples/common/secure.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "util/error.hpp"
#include "util/fd.hpp"

namespace common {
namespace {

// Writes an NSS key log. Restricts the file to its owner even if it exists.
void log_secrets_to_file(net::TlsContext& tls, const std::string& path) {
    auto file = std::make_shared<util::Fd>(
        open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!*file || fchmod(file->get(), S_IRUSR | S_IWUSR) != 0)
        throw util::Error(fmt::format("cannot write the key log {}: {}. Choose another --keylog.",
                                      path, std::strerror(errno)));
    tls.log_secrets([file](std::string_view line) {
        const std::string whole = std::string(line) + '\n';
        if (write(file->get(), whole.data(), whole.size()) != static_cast<ssize_t>(whole.size()))
            throw util::Error("cannot write the key log: is the disk full?");
    });
}

}  // namespace

net::TlsFiles tls_files(net::TlsRole role, const SecureOptions& options) {
    const std::string own =
        options.certificates + (role == net::TlsRole::Client ? "/client" : "/server");
    return {
        .ca = options.certificates + "/ca.crt", .certificate = own + ".crt", .key = own + ".key"};
}

void reveal_what_was_asked_for(net::TlsContext& tls, const SecureOptions& options,
                               runlog::Log& log) {
    if (!options.show_psn)
        log.hide_psns();
    if (options.keylog.empty())
        return;
    log.note(
        "the TLS secrets are recorded (--keylog): anyone who has them can decrypt the exchange. "
        "For the lab only");
    if (options.keylog == "-")
        tls.log_secrets([&log](std::string_view line) {
            log.event("tls_secret", {{"line", line}});
        });
    else
        log_secrets_to_file(tls, options.keylog);
}

}  // namespace common
