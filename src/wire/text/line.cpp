#include "wire/text/line.hpp"

#include <algorithm>

#include "util/append.hpp"
#include "wire/text/summary.hpp"

namespace wire {
namespace {

constexpr std::size_t number_width = 5;
constexpr std::size_t time_width = 10;

// `out` from `begin` on, moved to the right of a column.
void align_right(std::string& out, std::size_t begin, std::size_t width) {
    const std::size_t size = out.size() - begin;
    if (size < width)
        out.insert(begin, width - size, ' ');
}

// What stands in `out` from `begin` on fills a column, which grows with it.
void fill_column(std::string& out, std::size_t begin, std::size_t& width) {
    const std::size_t size = out.size() - begin;
    width = std::max(width, size);
    out.append(width - size, ' ');
}

// Seconds with six digits behind the point, rounded.
void append_seconds(std::string& out, std::chrono::nanoseconds time) {
    constexpr std::int64_t unit = 1'000'000;
    const auto begin = out.size();
    const std::int64_t ns = time.count();
    const std::int64_t micros = ((ns < 0 ? -ns : ns) + 500) / 1000;
    if (ns < 0 && micros != 0)
        out.push_back('-');
    util::append_decimal(out, micros / unit);
    out.push_back('.');
    util::append_decimal(out, micros % unit, 6);
    align_right(out, begin, time_width);
}

// IP addresses or GIDs; MAC addresses, or nothing, where there are none.
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
                     const Packet& packet, util::Bytes frame) {
    begin(time);
    style_.begin(out, util::TextRole::Dim);
    const std::size_t column = out.size();
    util::append_decimal(out, number);
    align_right(out, column, number_width);
    out.push_back(' ');
    append_seconds(out, time - *first_);
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
    out.push_back('\n');
}

std::string Listing::line(std::uint64_t number, std::chrono::nanoseconds time, const Packet& packet,
                          util::Bytes frame) {
    std::string out;
    append(out, number, time, packet, frame);
    return out;
}

}  // namespace wire
