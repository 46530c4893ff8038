// The same transfer over TCP: with send(2), which copies into the kernel, and recv(2), or with
// MSG_ZEROCOPY.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <vector>

#include "examples/common/memory.hpp"
#include "examples/common/rc_connection.hpp"
#include "meter.hpp"
#include "net/tcp.hpp"
#include "plan.hpp"
#include "protocol.hpp"
#include "util/check.hpp"
#include "zerocopy.hpp"

namespace lesson22 {

[[noreturn]] inline void throw_gone(const net::Socket& socket, int error) {
    throw util::Error(fmt::format("{} disconnected during the transfer: {}.", socket.peer.text(),
                                  error == 0 ? "it closed the connection" : std::strerror(error)));
}

/// Returns how many of the sent bytes the peer's kernel has acknowledged.
inline std::uint64_t acknowledged(const net::Socket& socket, std::uint64_t sent) {
    int queued = 0;
    util::check_errno(ioctl(socket.fd.get(), SIOCOUTQ, &queued), "ioctl(SIOCOUTQ)");
    return sent - static_cast<std::uint64_t>(queued);
}

struct Stream {
    bool is_zerocopy = false;
    std::uint64_t calls = 0;
    std::uint64_t copied = 0;  // MSG_ZEROCOPY calls whose data the kernel copied
    util::CpuUsage used{};
};

/// Client: returns after the server's program has confirmed that it has all bytes.
inline void send_all(const common::RcSide& side, const net::Socket& socket, const Plan& plan,
                     const std::vector<std::byte>& source, Stream& stream, Meter& meter) {
    const int on = 1;
    if (stream.is_zerocopy)
        util::check_errno(setsockopt(socket.fd.get(), SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on),
                          "setsockopt(SO_ZEROCOPY)");
    Notifications notifications(socket);
    side.barrier();

    const auto before = util::CpuUsage::now();
    meter.start();
    std::uint64_t sent = 0;
    util::Deadline deadline = side.limit().deadline;
    const auto wait = [&](bool to_read) {
        side.check_stop();
        if (util::is_past(deadline))
            throw util::Error(socket.peer.text() + " does not accept more bytes.");
        net::wait_for(socket, to_read, {side.stop, deadline});
        if (stream.is_zerocopy)
            notifications.take();
    };
    while (sent < plan.size) {
        side.check_stop();
        const std::uint64_t within = sent % plan.chunk;
        const ssize_t taken =
            send(socket.fd.get(), source.data() + plan.source_of(sent / plan.chunk) + within,
                 plan.chunk - within, MSG_NOSIGNAL | (stream.is_zerocopy ? MSG_ZEROCOPY : 0));
        if (taken > 0) {
            sent += static_cast<std::uint64_t>(taken);
            ++stream.calls;
            meter.at(std::min(acknowledged(socket, sent), plan.size - 1));
            deadline = side.limit().deadline;
        } else if (errno == EAGAIN || errno == ENOBUFS) {
            // The socket or the notification queue (ENOBUFS) is full; notifications wake poll(2).
            wait(false);
        } else if (errno != EINTR) {
            throw_gone(socket, errno);
        }
    }
    // Wait for the program at the other end: what either kernel has accepted does not count.
    std::byte all_there{};
    for (ssize_t got = 0; got != 1;) {
        got = recv(socket.fd.get(), &all_there, 1, 0);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            throw_gone(socket, got == 0 ? 0 : errno);
        if (got < 0)
            wait(true);
    }
    meter.at(plan.size);
    stream.used = util::CpuUsage::now() - before;
    if (stream.is_zerocopy)
        notifications.take();
    while (stream.is_zerocopy && notifications.done() < stream.calls)
        wait(false);
    stream.copied = notifications.copied();
}

/// Server: receives into the same places as the WRITEs.
inline void receive_all(const common::RcSide& side, const net::Socket& socket, const Plan& plan,
                        std::vector<std::byte>& memory) {
    for (std::uint64_t got = 0; got < plan.size;) {
        const std::uint64_t within = got % plan.chunk;
        const ssize_t part =
            recv(socket.fd.get(), memory.data() + plan.place_of(got / plan.chunk) + within,
                 plan.chunk - within, 0);
        if (part > 0)
            got += static_cast<std::uint64_t>(part);
        else if (part < 0 && errno == EAGAIN)
            net::wait_for(socket, true, side.limit());
        else if (part == 0 || errno != EINTR)
            throw_gone(socket, part == 0 ? 0 : errno);
    }
    const std::byte all_there{1};
    net::wait_for(socket, false, side.limit());
    if (send(socket.fd.get(), &all_there, 1, MSG_NOSIGNAL) != 1)
        throw_gone(socket, errno);
}

/// Server: uses its own port, so that captures separate the stream from the exchange.
inline Result receive_stream(const common::RcSide& side, util::Address address, const Plan& plan) {
    std::vector<std::byte> memory(plan.buffer);
    address.set_port(static_cast<std::uint16_t>(address.port() + 1));
    net::TcpListener listener(address);
    Ready{listener.address().port()}.send(side.channel, side.limit());
    auto socket = listener.accept(side.limit());
    if (!socket)
        throw util::Error("the client did not connect for the stream in time.");
    side.barrier();
    const auto before = util::CpuUsage::now();
    receive_all(side, *socket, plan, memory);
    const auto used = util::CpuUsage::now() - before;
    side.barrier_without_limit();
    side.log.event("memory", common::describe_memory(memory));
    return Result::of(common::crc_of(memory), used);
}

}  // namespace lesson22
