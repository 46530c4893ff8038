#include "net/client_hello.hpp"

#include <array>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "util/check.hpp"
#include "util/cursor.hpp"

namespace net {
namespace {

constexpr int header = 5;  // of a TLS record: type, version, length
constexpr std::byte handshake{22};
constexpr int most = 1 << 14;  // maximum bytes in a record

void be_readable_from(const Socket& socket, int bytes) {
    util::check_errno(setsockopt(socket.fd.get(), SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof bytes),
                      "setsockopt(SO_RCVLOWAT)");
}

int readable_from(const Socket& socket) {
    int bytes = 0;
    socklen_t size = sizeof bytes;
    util::check_errno(getsockopt(socket.fd.get(), SOL_SOCKET, SO_RCVLOWAT, &bytes, &size),
                      "getsockopt(SO_RCVLOWAT)");
    return bytes;
}

}  // namespace

Hello look_at_hello(const Socket& socket) {
    std::array<std::byte, header> bytes{};
    const auto seen = recv(socket.fd.get(), bytes.data(), bytes.size(), MSG_PEEK);
    int here = 0;
    util::check_errno(ioctl(socket.fd.get(), FIONREAD, &here), "ioctl(FIONREAD)");
    int needed = header;
    if (seen == header)
        needed += util::be16<3>(util::FixedBytes<header>(bytes));
    const bool is_record = seen > 0 && bytes[0] == handshake && needed <= header + most;
    // If the socket is readable with fewer than SO_RCVLOWAT bytes, no more will arrive.
    if (is_record && here < needed && readable_from(socket) < needed) {
        be_readable_from(socket, needed);
        return Hello::Part;
    }
    be_readable_from(socket, 1);
    return Hello::Whole;
}

}  // namespace net
