#include "report/timeline_text.hpp"

#include <cmath>

#include <fmt/format.h>

#include "report/cause_text.hpp"
#include "report/work_request_table.hpp"

namespace report {
namespace {

constexpr std::size_t who_width = 15;            // "client → server"
constexpr std::size_t continuation_indent = 38;  // below what stands behind an event's name

Role role_of(const std::string& name) {
    return name == "server" ? Role::Server : Role::Client;
}

}  // namespace

TimelineText::TimelineText(Style style, const std::map<std::string, std::string>& addresses,
                           std::size_t columns)
    : style_(style), columns_(columns) {
    for (const auto& [role, address] : addresses) {
        const auto [entry, is_new] = roles_.emplace(address, role);
        if (!is_new)
            entry->second = "host";  // one host plays both
    }
}

std::string TimelineText::who(const std::string& address) const {
    const auto role = roles_.find(address);
    return role == roles_.end() ? address : role->second;
}

std::string TimelineText::line(const timeline::Row& row) {
    if (!first_ns_)
        first_ns_ = row.t_ns;
    std::string text =
        style_(Role::Dim, fmt::format("{:9.6f}", static_cast<double>(row.t_ns - *first_ns_) / 1e9));
    if (const auto* event = std::get_if<runlog::Event>(&row.what)) {
        text += "  " + style_(role_of(event->role),
                              padded(event->role, who_width) + "  " + runlog::to_text(*event));
    } else {
        const auto& packet = std::get<timeline::PacketRow>(row.what);
        const std::string direction =
            packet.source.empty()
                ? std::string()
                : fmt::format("{} → {}", who(packet.source), who(packet.destination));
        text += fmt::format("  {}  {}", padded(direction, who_width), packet.text);
        if (const std::string cause = cause_arrow(packet); !cause.empty())
            text += style_(Role::Dim, "  " + cause);
    }
    return wrapped(text, columns_, continuation_indent) + "\n";
}

std::string TimelineText::summary(const timeline::Timeline& timeline) {
    const timeline::JoinCount& joins = timeline.joins();
    std::string text = fmt::format(
        "{} packets; of {} on connected queue pairs, {} belong to a work request; of {} others, {} "
        "set a connection up\n",
        joins.packets, joins.joinable, joins.joined, joins.packets - joins.joinable, joins.set_up);
    for (const auto& [role, clock] : timeline.clocks())
        if (clock.known())
            text += fmt::format(
                "the {}'s times are moved by {:+.3f} ms, ± {:.3f} ms by the pairs that match\n",
                role, static_cast<double>(clock.shift()) / 1e6,
                static_cast<double>(clock.uncertainty()) / 1e6);
    return text + work_request_table(timeline);
}

}  // namespace report
