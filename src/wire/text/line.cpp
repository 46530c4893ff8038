#include "wire/text/line.hpp"

#include <algorithm>
#include <array>

#include "util/append.hpp"
#include "wire/text/summary.hpp"

namespace wire {
namespace {

constexpr std::size_t number_width = 5;
constexpr std::size_t time_width = 10;

// Appends the text that `write` writes, right-aligned to `width`. `write` returns the end.
template <typename Write>
void append_right(std::string& out, std::size_t width, Write write) {
    constexpr std::size_t longest = 32;
    std::array<char, longest> text;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    const auto size = static_cast<std::size_t>(write(text.data()) - text.data());
    if (size < width)
        out.append(width - size, ' ');
    out.append(text.data(), size);
}

// Pads `out` from `begin` on to the column's width. A longer text widens the column.
void fill_column(std::string& out, std::size_t begin, std::size_t& width) {
    const std::size_t size = out.size() - begin;
    width = std::max(width, size);
    out.append(width - size, ' ');
}

// Writes seconds with six decimal places, rounded.
char* put_seconds(char* at, std::chrono::nanoseconds time) {
    constexpr std::uint64_t unit = 1'000'000;
    constexpr std::size_t places = 6;
    const std::int64_t ns = time.count();
    const auto distance =
        ns < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    const std::uint64_t micros = (distance + 500) / 1000;
    if (ns < 0 && micros != 0)
        *at++ = '-';
    at = util::put_decimal(at, micros / unit);
    *at++ = '.';
    return util::put_digits(at, micros % unit, places);
}

// Appends the IP address or GID, else the MAC address, else nothing.
void append_source(std::string& out, const Packet& packet) {
    if (packet.ipv4)
        append(out, packet.ipv4->src);
    else if (packet.ipv6)
        append(out, packet.ipv6->src);
    else if (packet.grh)
        append(out, packet.grh->sgid);
    else if (packet.ethernet)
        append(out, packet.ethernet->src);
}
void append_destination(std::string& out, const Packet& packet) {
    if (packet.ipv4)
        append(out, packet.ipv4->dst);
    else if (packet.ipv6)
        append(out, packet.ipv6->dst);
    else if (packet.grh)
        append(out, packet.grh->dgid);
    else if (packet.ethernet)
        append(out, packet.ethernet->dst);
}

}  // namespace

void Listing::append(std::string& out, std::uint64_t number, std::chrono::nanoseconds time,
                     const Packet& packet, util::Bytes frame, std::string_view upper) {
    begin(time);
    style_.begin(out, util::TextRole::Dim);
    append_right(out, number_width, [&](char* at) { return util::put_decimal(at, number); });
    out.push_back(' ');
    append_right(out, time_width, [&](char* at) { return put_seconds(at, time - *first_); });
    style_.end(out, util::TextRole::Dim);
    out.append("  ");
    const std::size_t source = out.size();
    append_source(out, packet);
    fill_column(out, source, source_width_);
    out.append(" → ");
    const std::size_t destination = out.size();
    append_destination(out, packet);
    fill_column(out, destination, destination_width_);
    out.append("  ");
    append_summary(out, packet, style_, frame);
    if (!upper.empty())
        out.append(" | ").append(upper);
    out.push_back('\n');
}

std::string Listing::line(std::uint64_t number, std::chrono::nanoseconds time, const Packet& packet,
                          util::Bytes frame) {
    std::string out;
    append(out, number, time, packet, frame);
    return out;
}

}  // namespace wire
