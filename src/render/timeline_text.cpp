#include "render/timeline_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "render/cause_text.hpp"
#include "render/chunk_table.hpp"
#include "render/work_request_table.hpp"
#include "util/printable.hpp"

namespace render {
namespace {

constexpr std::size_t who_width = 15;            // "client → server"
constexpr std::size_t continuation_indent = 38;  // aligned with the text after an event's name

util::TextRole role_of(const std::string& name) {
    return name == "server" ? util::TextRole::Server : util::TextRole::Client;
}

}  // namespace

TimelineText::TimelineText(util::TextStyle style,
                           const std::map<std::string, std::string>& addresses, std::size_t columns)
    : style_(style), columns_(columns) {
    for (const auto& [role, address] : addresses) {
        const auto [entry, is_new] = roles_.emplace(address, role);
        if (!is_new)
            entry->second = addresses.size() == 2 ? "host" : address;  // the host has several roles
    }
}

std::string_view TimelineText::who(const std::string& address) const {
    const auto role = roles_.find(address);
    return role == roles_.end() ? address : role->second;
}

std::string TimelineText::line(const timeline::Row& row) {
    if (const auto* event = std::get_if<runlog::Event>(&row.what))
        return line(row.t_ns, *event);
    const auto& packet = std::get<timeline::PacketRow>(row.what);
    return line(packet, packet.text);
}

std::string TimelineText::line(std::int64_t t_ns, const runlog::Event& event) {
    const std::string what = util::padded(util::printable(event.role), who_width) + "  " +
                             runlog::to_text(event) + runlog::duration_text(event);
    return finished(time(t_ns) + style_(role_of(event.role), what));
}

std::string TimelineText::line(const timeline::PacketRow& row, std::string_view packet) {
    std::string text = time(row.t_ns);
    std::size_t width = 0;
    if (!row.source.empty()) {
        const std::size_t begin = text.size();
        text.append(who(row.source)).append(" → ").append(who(row.destination));
        width = util::display_width(std::string_view(text).substr(begin));
    }
    text.append(who_width - std::min(width, who_width) + 2, ' ').append(packet);
    if (row.has_cause())
        text.append("  ").append(style_(util::TextRole::Dim, cause_arrow(row)));
    return finished(std::move(text));
}

// The time at the beginning of a line.
std::string TimelineText::time(std::int64_t t_ns) {
    if (!first_ns_)
        first_ns_ = t_ns;
    const double seconds = static_cast<double>(t_ns - *first_ns_) / 1e9;
    return style_(util::TextRole::Dim, fmt::format("{:9.6f}", seconds)) + "  ";
}

std::string TimelineText::finished(std::string text) const {
    if (columns_ > continuation_indent)
        text = util::wrapped(text, columns_, continuation_indent);
    text.push_back('\n');
    return text;
}

std::string TimelineText::summary(const timeline::Matcher& run, bool has_logs) {
    const timeline::JoinCount& joins = run.joins();
    if (!has_logs)
        return fmt::format(
            "{} packets, {} of them RoCE, {} on connected queue pairs; without a run log (--log) "
            "no packet has a cause\n",
            joins.packets, joins.roce, joins.joinable - joins.datagrams);
    std::string text = fmt::format(
        "{} packets; of {} on connected queue pairs{}, {} belong to a work request; of {} others, "
        "{} set up a connection\n",
        joins.packets, joins.joinable - joins.datagrams,
        joins.datagrams == 0 ? "" : fmt::format(" and {} datagrams", joins.datagrams), joins.joined,
        joins.packets - joins.joinable, joins.set_up);
    for (const auto& [role, clock] : run.clocks())
        if (clock.known())
            text += fmt::format(
                "the {}'s times are shifted by {:+.3f} ms, ± {:.3f} ms, from matching pairs of "
                "events and packets\n",
                role, static_cast<double>(clock.shift()) / 1e6,
                static_cast<double>(clock.uncertainty()) / 1e6);
    return text + work_request_table(run) + chunk_table(run);
}

}  // namespace render
