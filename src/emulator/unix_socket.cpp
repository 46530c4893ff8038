#include "emulator/unix_socket.hpp"

#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

#include "util/check.hpp"
#include "util/error.hpp"

namespace emulator {
namespace {

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path)
        throw util::Error(
            fmt::format("'{}' is not a valid path for a socket: use a path of 1 to {} bytes", path,
                        sizeof address.sun_path - 1));
    std::memcpy(address.sun_path, path.data(), path.size());
    return address;
}

util::Fd open_socket() {
    return util::Fd(CHECK_ERRNO(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
}

}  // namespace

util::Fd connect_unix(const std::string& path) {
    const sockaddr_un address = address_of(path);
    util::Fd fd = open_socket();
    if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return {};
    return fd;
}

util::Fd listen_unix(const std::string& path) {
    const sockaddr_un address = address_of(path);
    if (connect_unix(path))
        throw util::Error(fmt::format("another program already listens at {}", path));
    struct stat found {};
    if (lstat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode))
        unlink(path.c_str());
    util::Fd fd = open_socket();
    const mode_t mask = umask(0077);
    const int bound = bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    const int error = errno;
    umask(mask);
    if (bound != 0)
        throw util::Error(
            fmt::format("cannot create a socket at {}: {}", path, std::strerror(error)));
    CHECK_ERRNO(listen(fd.get(), 16));
    return fd;
}

}  // namespace emulator
