#include "report/line.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/summary.hpp"

namespace report {

Addresses addresses(const wire::Packet& packet) {
    if (packet.ipv4)
        return {wire::text(packet.ipv4->src), wire::text(packet.ipv4->dst)};
    if (packet.ipv6)
        return {wire::text(packet.ipv6->src), wire::text(packet.ipv6->dst)};
    if (packet.grh)
        return {wire::text(packet.grh->sgid), wire::text(packet.grh->dgid)};
    if (packet.ethernet)
        return {wire::text(packet.ethernet->src), wire::text(packet.ethernet->dst)};
    return {};
}

std::string Listing::line(std::uint64_t number, std::chrono::nanoseconds time,
                          const wire::Packet& packet, util::Bytes frame) {
    if (!first_)
        first_ = time;
    const auto [source, destination] = addresses(packet);
    source_width_ = std::max(source_width_, source.size());
    destination_width_ = std::max(destination_width_, destination.size());
    const double seconds = std::chrono::duration<double>(time - *first_).count();
    return fmt::format("{}  {} → {}  {}\n",
                       style_(Role::Dim, fmt::format("{:5} {:10.6f}", number, seconds)),
                       padded(source, source_width_), padded(destination, destination_width_),
                       packet_summary(packet, style_, frame));
}

}  // namespace report
