#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/socket.h>

#include <fmt/format.h>

#include "exchange/tls.hpp"
#include "util/error.hpp"

namespace exchange {
namespace {

// A socket that is closed while bytes of the client's lie unread in it is reset, and with it goes
// the alert that was to tell the client why. So: until the client has closed its end.
void let_peer_read(const Socket& socket, const Patience& patience) {
    util::Deadline deadline = util::deadline_in(std::chrono::seconds(1));
    if (patience.deadline)
        deadline = std::min(*deadline, *patience.deadline);
    shutdown(socket.fd.get(), SHUT_WR);
    std::array<std::byte, 4096> ignored{};
    while (!util::is_past(deadline)) {
        const ssize_t got = recv(socket.fd.get(), ignored.data(), ignored.size(), 0);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return;
        if (got < 0 &&
            util::wait_readable(socket.fd.get(), patience.stop, deadline) != util::Ready::input)
            return;
    }
}

// Calls until it is done, and waits in between for what it wants.
template <typename Call>
Progress complete(const Socket& socket, const Patience& patience, Call call) {
    while (true) {
        const Progress progress = call();
        if (progress == Progress::Done || progress == Progress::Closed)
            return progress;
        wait_for(socket, progress == Progress::WantRead, patience);
    }
}

[[noreturn]] void has_closed(const Socket& socket) {
    throw util::Error(fmt::format("{} closed the connection during the exchange. Its log says why.",
                                  socket.peer.text()));
}

}  // namespace

TlsChannel::TlsChannel(TlsContext& context, Socket socket, const Patience& patience)
    : stream_(context, std::move(socket)) {
    try {
        if (complete(this->socket(), patience, [&] { return stream_.handshake(); }) ==
            Progress::Closed)
            has_closed(this->socket());
    } catch (const util::Error&) {
        if (context.role() == TlsRole::Server)
            let_peer_read(this->socket(), patience);
        throw;
    }
}

void TlsChannel::send(util::Bytes bytes, const Patience& patience) {
    while (!bytes.empty()) {
        std::size_t put = 0;
        if (complete(socket(), patience, [&] { return stream_.write(bytes, put); }) ==
            Progress::Closed)
            has_closed(socket());
        bytes = bytes.subspan(put);
    }
}

void TlsChannel::receive(std::span<std::byte> bytes, const Patience& patience) {
    while (!bytes.empty()) {
        std::size_t got = 0;
        if (complete(socket(), patience, [&] { return stream_.read(bytes, got); }) ==
            Progress::Closed)
            has_closed(socket());
        bytes = bytes.subspan(got);
    }
}

}  // namespace exchange
