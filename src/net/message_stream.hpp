// Messages over a TlsStream, for programs that have an event loop. No function blocks.
#pragma once

#include <optional>
#include <vector>

#include "net/message.hpp"
#include "net/tls.hpp"

namespace net {

struct Message {
    MessageType type{};
    util::Bytes body;  // of the stream's memory, until its next call
};

/// Every failure throws util::Error with a sentence that names the peer or what it sent.
class MessageStream {
  public:
    MessageStream(TlsContext& context, Socket socket) : stream_(context, std::move(socket)) {}

    /// True once the TLS handshake is complete; until then nothing else may be called.
    bool handshake();
    /// The next whole message; nullopt where it has not come yet. Throws where the peer has closed
    /// the connection.
    std::optional<Message> receive();
    /// To be sent by this and later calls of flush().
    void send(util::Bytes message);
    /// True once all has gone.
    bool flush();
    /// TlsStream::end().
    void end() { stream_.end(); }

    /// Something is to go out as soon as the socket takes more.
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
