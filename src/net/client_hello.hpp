// Checks whether a TLS client has sent its ClientHello, without consuming it.
#pragma once

#include "net/tcp.hpp"

namespace net {

enum class Hello : std::uint8_t {
    Part,   ///< incomplete: wait for more
    Whole,  ///< a complete record, the end of the stream, or not TLS: the handshake finds out
};

/// Inspects the received bytes of a readable connection. After `Part` it is not readable until the
/// rest has arrived, or the peer has closed it (SO_RCVLOWAT, socket(7)), so that a poller does not
/// spin. Throws std::system_error. Source: RFC 8446, 5.1.
Hello look_at_hello(const Socket& socket);

}  // namespace net
