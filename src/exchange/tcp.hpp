// The exchange in the clear: a TCP connection.
#pragma once

#include <optional>
#include <string>

#include "exchange/channel.hpp"
#include "util/address.hpp"
#include "util/fd.hpp"

namespace exchange {

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
                   const Patience& patience);

/// Waits until the socket can be read (or written). Throws util::Error, naming the peer, when a
/// stop was requested or time is over.
void wait_for(const Socket& socket, bool to_read, const Patience& patience);

class TcpListener {
  public:
    /// Throws std::system_error naming the address.
    explicit TcpListener(const util::Address& address);

    int fd() const { return fd_.get(); }
    /// The address that it listens on; with port 0 the system has chosen one.
    util::Address address() const;
    /// The next client; nullopt when a stop was requested or time is over.
    std::optional<Socket> accept(const Patience& patience);

  private:
    util::Fd fd_;
};

class TcpChannel : public Channel {
  public:
    explicit TcpChannel(Socket socket) : socket_(std::move(socket)) {}

    void send(util::Bytes bytes, const Patience& patience) override;
    void receive(std::span<std::byte> bytes, const Patience& patience) override;
    std::string_view name() const override { return "TCP"; }
    const Socket& socket() const { return socket_; }

  private:
    Socket socket_;
};

}  // namespace exchange
