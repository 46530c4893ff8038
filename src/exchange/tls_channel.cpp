#include <algorithm>

#include <fmt/format.h>

#include "exchange/tls.hpp"
#include "util/error.hpp"

namespace exchange {
namespace {

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
            close(patience);  // once the client has closed its end it has read why
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

void TlsChannel::close(const Patience& patience) {
    util::Deadline deadline = util::deadline_in(std::chrono::seconds(1));
    if (patience.deadline)
        deadline = std::min(*deadline, *patience.deadline);
    stream_.end();
    while (!discard_input(socket()) && !util::is_past(deadline))
        if (util::wait_readable(socket().fd.get(), patience.stop, deadline) != util::Ready::input)
            return;
}

}  // namespace exchange
