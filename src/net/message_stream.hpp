// Messages over a TlsStream, for programs with an event loop. No function blocks.
#pragma once

#include <optional>
#include <vector>

#include "net/message.hpp"
#include "net/tls.hpp"

namespace net {

struct Message {
    MessageType type{};
    util::Bytes body;  // points into the stream; valid until its next call
};

/// All failures throw util::Error with a message that names the peer or what it sent.
class MessageStream {
  public:
    MessageStream(TlsContext& context, Socket socket) : stream_(context, std::move(socket)) {}

    /// True once the TLS handshake is complete; until then nothing else may be called.
    bool handshake();
    /// Returns the next complete message; nullopt if it has not arrived yet. Throws if the peer has
    /// closed the connection.
    std::optional<Message> receive();
    /// Queues a message; this and later calls of flush() send it.
    void send(util::Bytes message);
    /// True once everything has been sent.
    bool flush();
    /// TlsStream::end().
    void end() { stream_.end(); }

    /// True if data waits for the socket to become writable.
    bool has_unsent() const { return wants_to_write_ || !out_.empty(); }
    const Socket& socket() const { return stream_.socket(); }

  private:
    bool is_done(Progress progress);

    TlsStream stream_;
    bool wants_to_write_ = false;
    std::array<std::byte, header_size + longest_refusal> in_{};
    std::size_t got_ = 0;
    std::vector<std::byte> out_;
};

}  // namespace net
