#include <algorithm>

#include <fmt/format.h>

#include "net/tls.hpp"
#include "util/error.hpp"

namespace net {
namespace {

// Repeats the call until it is done, and waits for what it wants in between.
template <typename Call>
Progress complete(const Socket& socket, const TimeLimit& limit, Call call) {
    while (true) {
        const Progress progress = call();
        if (progress == Progress::Done || progress == Progress::Closed)
            return progress;
        wait_for(socket, progress == Progress::WantRead, limit);
    }
}

[[noreturn]] void has_closed(const Socket& socket) {
    throw util::Error(
        fmt::format("{} closed the connection during the exchange. Its log has the reason.",
                    socket.peer.text()));
}

}  // namespace

TlsChannel::TlsChannel(TlsContext& context, Socket socket, const TimeLimit& limit)
    : stream_(context, std::move(socket)) {
    try {
        if (complete(this->socket(), limit, [&] { return stream_.handshake(); }) ==
            Progress::Closed)
            has_closed(this->socket());
    } catch (const util::Error&) {
        if (context.role() == TlsRole::Server)
            close(limit);  // when the client has closed its end, it has read the reason
        throw;
    }
}

void TlsChannel::send(util::Bytes bytes, const TimeLimit& limit) {
    while (!bytes.empty()) {
        std::size_t put = 0;
        if (complete(socket(), limit, [&] { return stream_.write(bytes, put); }) ==
            Progress::Closed)
            has_closed(socket());
        bytes = bytes.subspan(put);
    }
}

void TlsChannel::receive(std::span<std::byte> bytes, const TimeLimit& limit) {
    while (!bytes.empty()) {
        std::size_t got = 0;
        if (complete(socket(), limit, [&] { return stream_.read(bytes, got); }) == Progress::Closed)
            has_closed(socket());
        bytes = bytes.subspan(got);
    }
}

void TlsChannel::close(const TimeLimit& limit) {
    util::Deadline deadline = util::deadline_in(std::chrono::seconds(1));
    if (limit.deadline)
        deadline = std::min(*deadline, *limit.deadline);
    stream_.end();
    while (!discard_input(socket()) && !util::is_past(deadline))
        if (util::wait_readable(socket().fd.get(), limit.stop, deadline) != util::Ready::input)
            return;
}

}  // namespace net
