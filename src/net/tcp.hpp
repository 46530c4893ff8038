// The exchange in the clear: a TCP connection.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "net/channel.hpp"
#include "util/address.hpp"
#include "util/fd.hpp"

namespace net {

/// A connected socket that never blocks.
struct Socket {
    util::Fd fd;
    util::Address peer;

    /// This end's own address: the one that the peer reaches.
    util::Address local() const;
};

/// Tries until the deadline where nobody listens there yet, with pauses that grow: a server may be
/// started a moment later. `source`: an address to connect from. Throws util::Error.
Socket connect_tcp(const util::Address& server, const std::optional<util::Address>& source,
                   const TimeLimit& limit);

/// Waits until the socket can be read (or written). Throws util::Error, naming the peer, when a
/// stop was requested or time is over.
void wait_for(const Socket& socket, bool to_read, const TimeLimit& limit);

/// The address of this host that packets to `server` leave from. Throws std::system_error where
/// there is no route.
util::Address local_address_towards(const util::Address& server);

/// Reads off what is there, or a part of it; true once the peer has closed its end.
bool discard_input(const Socket& socket);

/// Lets the system find out that a peer's machine has vanished: after some 15 seconds without an
/// answer, whether there is something to send or not, the socket fails with ETIMEDOUT (tcp(7)).
void notice_when_gone(const Socket& socket);

/// How long the first packet and its answer took, as the system has measured it; 0 where it has
/// not.
std::chrono::microseconds round_trip(const Socket& socket);

class TcpListener {
  public:
    /// Throws std::system_error naming the address.
    explicit TcpListener(const util::Address& address);

    int fd() const { return fd_.get(); }
    /// The address that it listens on; with port 0 the system has chosen one.
    util::Address address() const;
    /// The next client; nullopt when a stop was requested or time is over.
    std::optional<Socket> accept(const TimeLimit& limit);
    /// One that is there already; nullopt where there is none.
    std::optional<Socket> accept_now();

  private:
    util::Fd fd_;
};

class TcpChannel : public Channel {
  public:
    explicit TcpChannel(Socket socket) : socket_(std::move(socket)) {}

    void send(util::Bytes bytes, const TimeLimit& limit) override;
    void receive(std::span<std::byte> bytes, const TimeLimit& limit) override;
    std::string_view name() const override { return "TCP"; }
    const util::Address& peer() const override { return socket_.peer; }
    const Socket& socket() const { return socket_; }

  private:
    Socket socket_;
};

}  // namespace net
