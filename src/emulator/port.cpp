#include "emulator/port.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "emulator/unix_socket.hpp"
#include "util/address.hpp"
#include "util/check.hpp"
#include "util/number.hpp"

namespace emulator {
namespace {

constexpr std::string_view tcp_prefix = "tcp:";

util::Fd connect_tcp(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    const auto port = util::number_of<std::uint16_t>(
        colon == std::string::npos ? std::string_view() : std::string_view(text).substr(colon + 1));
    const auto address = util::Address::parse(text.substr(0, colon), port.value_or(0));
    if (!port || !address)
        throw util::Error(
            fmt::format("'tcp:{}' is not a valid address: write tcp:127.0.0.1:PORT", text));
    util::Fd fd(CHECK_ERRNO(socket(address->get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0)));
    // Both ends are on this machine: connect() returns immediately.
    if (::connect(fd.get(), address->get(), address->size()) != 0)
        return {};
    util::check_errno(fcntl(fd.get(), F_SETFL, O_NONBLOCK), "fcntl(O_NONBLOCK)");
    return fd;
}

}  // namespace

bool Port::connect() {
    fd_ = address_.starts_with(tcp_prefix) ? connect_tcp(address_.substr(tcp_prefix.size()))
                                           : connect_unix(address_);
    if (fd_)
        ++counters_.connections;
    return is_connected();
}

void Port::disconnect() {
    counters_.too_short += reader_.too_short();
    reader_ = FrameReader();
    out_.clear();
    sent_ = 0;
    fd_.reset();
}

bool Port::receive(const EachFrame& each) {
    const auto space = reader_.space();
    const ssize_t got = recv(fd_.get(), space.data(), space.size(), 0);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    if (got == 0)
        return false;
    reader_.filled(static_cast<std::size_t>(got));
    while (const auto frame = reader_.next()) {
        ++counters_.frames_in;
        counters_.bytes_in += frame->size();
        each(*frame);
    }
    return true;
}

void Port::send(util::Bytes frame) {
    if (!is_connected()) {
        ++counters_.undelivered;
        return;
    }
    std::array<std::byte, length_size> length{};
    util::put_be32<0>(std::span(length), static_cast<std::uint32_t>(frame.size()));
    out_.insert(out_.end(), length.begin(), length.end());
    out_.insert(out_.end(), frame.begin(), frame.end());
    ++counters_.frames_out;
    counters_.bytes_out += frame.size();
}

bool Port::flush() {
    while (backlog() > 0) {
        const ssize_t sent = ::send(fd_.get(), out_.data() + sent_, backlog(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN)
            break;
        if (sent < 0 && errno != EINTR)
            return false;
        if (sent > 0)
            sent_ += static_cast<std::size_t>(sent);
    }
    // Free the sent bytes once they outnumber the rest, so that each byte moves at most once.
    if (sent_ >= backlog()) {
        const std::size_t whole = behind_sent(false);
        out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(whole));
        sent_ -= whole;
    }
    return true;
}

std::size_t Port::behind_sent(bool half_too) const {
    std::size_t at = 0;
    while (at < sent_) {
        const std::size_t next =
            at + length_size + util::be32<0>(util::Bytes(out_).subspan(at).first<length_size>());
        if (!half_too && next > sent_)
            break;
        at = next;
    }
    return at;
}

void Port::drop_backlog() {
    const std::size_t kept = behind_sent(true);
    for (std::size_t at = kept; at < out_.size(); ++counters_.undelivered)
        at += length_size + util::be32<0>(util::Bytes(out_).subspan(at).first<length_size>());
    out_.resize(kept);
}

}  // namespace emulator
