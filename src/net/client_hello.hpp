// Checks whether a TLS client has sent its ClientHello, without consuming it.
#pragma once

#include "net/tcp.hpp"

namespace net {

enum class Hello : std::uint8_t {
    Part,   ///< more must come before anything can be done with it
    Whole,  ///< a whole record, the end of the stream, or no TLS at all: the handshake tells which
};

/// Looks at what has come on a connection that can be read. After `Part` it cannot be read until the
/// rest has come, or the peer's end (SO_RCVLOWAT, socket(7)), so that a poller is silent meanwhile.
/// Throws std::system_error. Source: RFC 8446, 5.1.
Hello look_at_hello(const Socket& socket);

}  // namespace net
