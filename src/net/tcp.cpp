#include "net/tcp.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include "util/check.hpp"
#include "util/error.hpp"

namespace net {
namespace {

using std::chrono::milliseconds;

enum class Event { Ready, Stop, Timeout };

Event wait_event(int fd, short events, const TimeLimit& limit) {
    while (true) {
        std::array<pollfd, 2> fds{{{fd, events, 0}, {limit.stop.fd(), POLLIN, 0}}};
        const int ready = poll(fds.data(), fds.size(), util::poll_timeout(limit.deadline));
        if (ready < 0 && errno == EINTR)
            continue;
        util::check_errno(ready, "poll");
        if (limit.stop.requested())
            return Event::Stop;
        if (fds[0].revents != 0)
            return Event::Ready;
        if (util::is_past(limit.deadline))
            return Event::Timeout;
    }
}

util::Fd make_socket(const util::Address& address) {
    util::Fd fd(CHECK_ERRNO(
        socket(address.get()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
    return fd;
}

util::Address address_of(const util::Fd& fd) {
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;
    auto* address = reinterpret_cast<sockaddr*>(&storage);
    CHECK_ERRNO(getsockname(fd.get(), address, &size));
    return util::Address(address);
}

// Disables Nagle's algorithm: messages are small, and each one is awaited.
void send_at_once(int fd) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// Makes one attempt. Returns 0 or the error.
int try_to_connect(util::Fd& fd, const util::Address& server,
                   const std::optional<util::Address>& source, const TimeLimit& limit) {
    fd = make_socket(server);
    if (source)
        util::check_errno(bind(fd.get(), source->get(), source->size()),
                          "bind(" + source->text() + ")");
    if (connect(fd.get(), server.get(), server.size()) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return errno;
    switch (wait_event(fd.get(), POLLOUT, limit)) {
        case Event::Stop:
            return ECANCELED;
        case Event::Timeout:
            return ETIMEDOUT;
        case Event::Ready:
            break;
    }
    int error = 0;
    socklen_t size = sizeof error;
    CHECK_ERRNO(getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size));
    return error;
}

[[noreturn]] void give_up(const util::Address& server, int error) {
    if (error == ECANCELED)
        throw util::Error(
            fmt::format("stopped by a signal while connecting to {}.", server.text()));
    throw util::Error(fmt::format(
        "cannot connect to {}: {}. {}", server.text(), std::strerror(error),
        error == ECONNREFUSED
            ? "No program listens there: start the server first, with the same --port."
            : "Is the address right, the host up, and does its firewall let the port through?"));
}

}  // namespace

Socket connect_tcp(const util::Address& server, const std::optional<util::Address>& source,
                   const TimeLimit& limit) {
    constexpr milliseconds longest_pause{1000};
    milliseconds pause{20};
    bool was_refused = false;
    while (true) {
        util::Fd fd;
        const int error = try_to_connect(fd, server, source, limit);
        if (error == 0) {
            send_at_once(fd.get());
            return {std::move(fd), server};
        }
        // The last attempt may just time out: an earlier error is more informative.
        if (error != ECONNREFUSED)
            give_up(server, error == ETIMEDOUT && was_refused ? ECONNREFUSED : error);
        was_refused = true;
        if (util::is_past(limit.deadline))
            give_up(server, error);
        util::Deadline next = util::deadline_in(pause);
        if (limit.deadline)
            next = std::min(*next, *limit.deadline);
        if (util::wait_readable(limit.stop.fd(), limit.stop, next) == util::Ready::stop)
            give_up(server, ECANCELED);
        pause = std::min(2 * pause, longest_pause);
    }
}

TcpListener::TcpListener(const util::Address& address) : fd_(make_socket(address)) {
    constexpr int backlog =
        4096;  // a thousand clients may connect at once; net.core.somaxconn caps it
    const int on = 1;
    const int off = 0;
    setsockopt(fd_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address.is_ipv6())
        setsockopt(fd_.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    util::check_errno(bind(fd_.get(), address.get(), address.size()),
                      "bind(" + address.text() + ")");
    util::check_errno(listen(fd_.get(), backlog), "listen(" + address.text() + ")");
}

util::Address TcpListener::address() const {
    return address_of(fd_);
}

util::Address Socket::local() const {
    return address_of(fd);
}

std::optional<Socket> TcpListener::accept_now() {
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;
    auto* address = reinterpret_cast<sockaddr*>(&storage);
    util::Fd fd(accept4(fd_.get(), address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    // A client that gave up between poll and accept is not an error.
    if (!fd && (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR))
        return std::nullopt;
    util::check_errno(fd.get(), "accept");
    send_at_once(fd.get());
    return Socket{std::move(fd), util::Address(address)};
}

std::optional<Socket> TcpListener::accept(const TimeLimit& limit) {
    while (wait_event(fd_.get(), POLLIN, limit) == Event::Ready)
        if (auto socket = accept_now())
            return socket;
    return std::nullopt;
}

bool discard_input(const Socket& socket) {
    std::array<std::byte, 4096> ignored{};
    // Limited: a peer that sends endlessly must not block the reader.
    for (int tries = 0; tries < 16; ++tries) {
        const ssize_t got = recv(socket.fd.get(), ignored.data(), ignored.size(), 0);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return true;
        if (got < 0 && errno == EAGAIN)
            return false;
    }
    return false;
}

void notice_when_gone(const Socket& socket) {
    const auto set = [&socket](int level, int option, int value) {
        CHECK_ERRNO(setsockopt(socket.fd.get(), level, option, &value, sizeof value));
    };
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, TCP_KEEPIDLE, 5);
    set(IPPROTO_TCP, TCP_KEEPINTVL, 3);
    set(IPPROTO_TCP, TCP_USER_TIMEOUT, 15'000);
}

util::Address local_address_towards(const util::Address& server) {
    const util::Fd fd(CHECK_ERRNO(socket(server.get()->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
    // connect() on a datagram socket only looks up the route.
    util::check_errno(connect(fd.get(), server.get(), server.size()),
                      "connect(" + server.text() + ")");
    return address_of(fd);
}

std::chrono::microseconds round_trip(const Socket& socket) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (getsockopt(socket.fd.get(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return {};
    return std::chrono::microseconds(info.tcpi_rtt);
}

void wait_for(const Socket& socket, bool to_read, const TimeLimit& limit) {
    switch (wait_event(socket.fd.get(), to_read ? POLLIN : POLLOUT, limit)) {
        case Event::Ready:
            return;
        case Event::Stop:
            throw util::Error(fmt::format("stopped by a signal during the exchange with {}.",
                                          socket.peer.text()));
        case Event::Timeout:
            throw util::Error(
                fmt::format("{} did not respond in time during the exchange.", socket.peer.text()));
    }
}

void TcpChannel::send(util::Bytes bytes, const TimeLimit& limit) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket_.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent >= 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(sent));
        } else if (errno == EAGAIN) {
            wait_for(socket_, false, limit);
        } else if (errno != EINTR) {
            throw util::Error(fmt::format("the connection to {} broke during the exchange: {}.",
                                          socket_.peer.text(), std::strerror(errno)));
        }
    }
}

void TcpChannel::receive(std::span<std::byte> bytes, const TimeLimit& limit) {
    while (!bytes.empty()) {
        const ssize_t got = recv(socket_.fd.get(), bytes.data(), bytes.size(), 0);
        if (got > 0)
            bytes = bytes.subspan(static_cast<std::size_t>(got));
        else if (got == 0)
            throw util::Error(
                fmt::format("{} closed the connection during the exchange. Its log has the reason.",
                            socket_.peer.text()));
        else if (errno == EAGAIN)
            wait_for(socket_, true, limit);
        else if (errno != EINTR)
            throw util::Error(fmt::format("the connection to {} broke during the exchange: {}.",
                                          socket_.peer.text(), std::strerror(errno)));
    }
}

}  // namespace net
