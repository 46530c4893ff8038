#include "wire/text/line.hpp"

#include <algorithm>
#include <array>

#include "util/append.hpp"
#include "util/composer.hpp"
#include "wire/text/summary.hpp"

namespace wire {
namespace {

constexpr std::size_t number_width = 5;
constexpr std::size_t time_width = 10;
constexpr std::size_t continuation_indent = number_width + time_width + 3;  // below the addresses

// Appends the text that `write` writes, right-aligned to `width`. `write` returns the end.
template <typename Write>
void add_right(util::Composer& out, std::size_t width, Write write) {
    constexpr std::size_t longest = 32;
    std::array<char, longest> text;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    const auto size = static_cast<std::size_t>(write(text.data()) - text.data());
    out.append(width - std::min(width, size), ' ');
    out.append(std::string_view(text.data(), size));
}

// Appends the IP address or GID, else the LID or MAC address, else nothing, and pads it to the column's
// width. A longer text widens the column.
void add_address(util::Composer& out, const Packet& packet, bool is_source, std::size_t& width) {
    const std::size_t begin = out.size();
    const auto add = [&](const auto& src, const auto& dst) {
        out.end_at(put(out.room(longest_address), is_source ? src : dst));
    };
    if (packet.ipv4)
        add(packet.ipv4->src, packet.ipv4->dst);
    else if (packet.ipv6)
        add(packet.ipv6->src, packet.ipv6->dst);
    else if (packet.grh)
        add(packet.grh->sgid, packet.grh->dgid);
    else if (packet.lrh)
        out.end_at(
            put_lid(out.room(longest_address), is_source ? packet.lrh->slid : packet.lrh->dlid));
    else if (packet.ethernet)
        add(packet.ethernet->src, packet.ethernet->dst);
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

}  // namespace

void Listing::append(std::string& out, std::uint64_t number, std::chrono::nanoseconds time,
                     const Packet& packet, util::Bytes frame, std::string_view upper) {
    const std::size_t begin = out.size();
    compose(out, number, time, packet, frame, upper);
    if (columns_ > continuation_indent)
        out.replace(
            begin, std::string::npos,
            util::wrapped(std::string_view(out).substr(begin), columns_, continuation_indent));
    out.push_back('\n');
}

void Listing::compose(std::string& text, std::uint64_t number, std::chrono::nanoseconds time,
                      const Packet& packet, util::Bytes frame, std::string_view upper) {
    begin(time);
    util::Composer out(text);
    out.append(style_.before(util::TextRole::Dim));
    add_right(out, number_width, [&](char* at) { return util::put_decimal(at, number); });
    out.append(' ');
    add_right(out, time_width, [&](char* at) { return put_seconds(at, time - *first_); });
    out.append(style_.after(util::TextRole::Dim));
    out.append("  ");
    add_address(out, packet, true, source_width_);
    out.append(" → ");
    add_address(out, packet, false, destination_width_);
    out.append("  ");
    add_summary(out, packet, style_, frame);
    if (!upper.empty()) {
        out.append(" | ");
        out.append(upper);
    }
}

std::string Listing::line(std::uint64_t number, std::chrono::nanoseconds time, const Packet& packet,
                          util::Bytes frame) {
    std::string out;
    append(out, number, time, packet, frame);
    return out;
}

}  // namespace wire
