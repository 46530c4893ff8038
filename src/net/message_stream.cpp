#include "net/message_stream.hpp"

#include <fmt/format.h>

#include "util/error.hpp"

namespace net {

// Throws if closed.
bool MessageStream::is_done(Progress progress) {
    if (progress == Progress::Closed)
        throw util::Error(
            fmt::format("{} closed the connection during the exchange.", socket().peer.text()));
    wants_to_write_ = progress == Progress::WantWrite;
    return progress == Progress::Done;
}

bool MessageStream::handshake() {
    return is_done(stream_.handshake());
}

std::optional<Message> MessageStream::receive() {
    std::size_t wanted = header_size;
    while (true) {
        if (got_ >= header_size) {
            const Header header =
                parse_header(util::FixedBytes<sizeof in_>(in_).first<header_size>());
            wanted = header_size + header.size;
            if (got_ == wanted) {
                got_ = 0;
                return Message{header.type, util::Bytes(in_).subspan(header_size, header.size)};
            }
        }
        std::size_t more = 0;
        if (!is_done(stream_.read(std::span(in_).subspan(got_, wanted - got_), more)))
            return std::nullopt;
        got_ += more;
    }
}

void MessageStream::send(util::Bytes message) {
    out_.insert(out_.end(), message.begin(), message.end());
}

bool MessageStream::flush() {
    while (!out_.empty()) {
        std::size_t put = 0;
        if (!is_done(stream_.write(out_, put)))
            return false;
        out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(put));
    }
    return true;
}

}  // namespace net
