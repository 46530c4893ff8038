// The exchange without encryption: a TCP connection.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "net/channel.hpp"
#include "util/address.hpp"
#include "util/fd.hpp"

namespace net {

/// A connected, non-blocking socket.
struct Socket {
    util::Fd fd;
    util::Address peer;

    /// The local address that the peer reaches.
    util::Address local() const;
};

/// Retries until the deadline while no program listens there, with growing pauses: the server may
/// start later. `source`: local address to connect from. Throws util::Error.
Socket connect_tcp(const util::Address& server, const std::optional<util::Address>& source,
                   const TimeLimit& limit);

/// Waits until the socket is readable (or writable). Throws util::Error that names the peer if a
/// stop was requested or the deadline has passed.
void wait_for(const Socket& socket, bool to_read, const TimeLimit& limit);

/// Returns this host's source address for packets to `server`. Throws std::system_error if there is
/// no route.
util::Address local_address_towards(const util::Address& server);

/// Discards received bytes, at least a part of them; true once the peer has closed its end.
bool discard_input(const Socket& socket);

/// Enables detection of a vanished peer: after about 15 seconds without a response, with or without
/// unsent data, the socket fails with ETIMEDOUT (tcp(7)).
void notice_when_gone(const Socket& socket);

/// Round-trip time of the first packet as measured by the kernel; 0 if unknown.
std::chrono::microseconds round_trip(const Socket& socket);

class TcpListener {
  public:
    /// Throws std::system_error that names the address.
    explicit TcpListener(const util::Address& address);

    int fd() const { return fd_.get(); }
    /// The address that it listens on; the kernel chooses the port if it was 0.
    util::Address address() const;
    /// Waits for the next client; nullopt if a stop was requested or the deadline has passed.
    std::optional<Socket> accept(const TimeLimit& limit);
    /// Returns a client that has already connected; nullopt if there is none.
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
