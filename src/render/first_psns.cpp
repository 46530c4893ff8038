#include "render/first_psns.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "util/json.hpp"
#include "util/printable.hpp"

namespace render {
namespace {

using Frames = std::vector<std::uint64_t>;
using Cells = std::array<std::string, 5>;

std::string in_frames(const Frames& frames) {
    return fmt::format("frame{} {}", frames.size() == 1 ? "" : "s", fmt::join(frames, ", "));
}

// Names a run by its step ("06") if no other run has the same lesson.
std::string label(const timeline::FirstPsns& run, std::span<const timeline::FirstPsns> runs) {
    const bool is_unique =
        std::ranges::count(runs, run.step, &timeline::FirstPsns::step) == 1 && !run.step.empty();
    return is_unique ? run.step.substr(0, run.step.find('_')) : run.run;
}

// Names the queue pair if the run has several between the two, or if nothing else is known.
std::string direction_text(const timeline::FirstPsn& direction, bool is_alone) {
    if (direction.qpn == 0)
        return fmt::format("{} → {}, to QP {:#08x}", direction.from, direction.to,
                           direction.dest_qpn);
    std::string text = direction.to.empty()
                           ? fmt::format("{} → QP {:#08x}", direction.from, direction.dest_qpn)
                           : fmt::format("{} → {}", direction.from, direction.to);
    if (!is_alone)
        text += fmt::format(", QP {:#08x}", direction.qpn);
    return text;
}

// Text for an unknown value.
std::string unknown_text(const timeline::FirstPsns& run) {
    return run.has_logs ? "not in the log" : "not in the capture";
}

std::string psn_text(const timeline::FirstPsns& run, const timeline::FirstPsn& direction) {
    if (direction.psn)
        return fmt::format("{:#08x}", *direction.psn);
    return direction.hidden ? "secret" : unknown_text(run);
}

std::string readable_text(const timeline::FirstPsns& run, const timeline::FirstPsn& direction) {
    if (!run.has_capture)
        return "no capture";
    std::vector<std::string> places;
    const auto announce = [&](std::string_view what, const Frames& frames) {
        if (!frames.empty())
            places.push_back(fmt::format("{} ({})", what, in_frames(frames)));
    };
    announce("ConnectRequest", direction.connect_requests);
    announce("ConnectReply", direction.connect_replies);
    announce("TCP segment", direction.tcp_segments);
    const std::size_t packets = direction.bths.size();
    if (packets != 0) {
        const std::string_view s = packets == 1 ? "" : "s";
        if (direction.is_announced())
            places.push_back(fmt::format("BTH of {} packet{}", packets, s));
        else if (direction.hidden)
            places.push_back(
                fmt::format("BTH only, from the first packet on ({})", in_frames(direction.bths)));
        else
            places.push_back(
                fmt::format("BTH of {} packet{} only ({})", packets, s, in_frames(direction.bths)));
    }
    return places.empty() ? "nowhere in the capture" : fmt::format("{}", fmt::join(places, ", "));
}

std::vector<Cells> rows_of(const timeline::FirstPsns& run,
                           std::span<const timeline::FirstPsns> runs) {
    const std::string name = label(run, runs);
    if (run.directions.empty())
        return {{name, "no connected queue pair", "", "", ""}};
    std::map<std::pair<std::string, std::string>, std::size_t> between;
    for (const timeline::FirstPsn& direction : run.directions)
        ++between[{direction.from, direction.to}];
    std::vector<Cells> rows;
    for (const timeline::FirstPsn& direction : run.directions)
        rows.push_back({name,
                        direction_text(direction, between[{direction.from, direction.to}] == 1),
                        psn_text(run, direction),
                        direction.chosen_by.empty() ? unknown_text(run) : direction.chosen_by,
                        readable_text(run, direction)});
    return rows;
}

std::string line_of(const Cells& cells, const std::array<std::size_t, 5>& widths) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i)
        line += util::padded(cells[i], widths[i] + 2);
    return line.erase(line.find_last_not_of(' ') + 1);
}

}  // namespace

std::string first_psns_text(std::span<const timeline::FirstPsns> runs, util::TextStyle style) {
    std::vector<Cells> rows{{"run", "direction", "first PSN", "chosen by", "readable in"}};
    for (const timeline::FirstPsns& run : runs)
        for (Cells& cells : rows_of(run, runs)) {
            std::ranges::transform(cells, cells.begin(), util::printable);
            rows.push_back(std::move(cells));
        }
    std::array<std::size_t, 5> widths{};
    for (const Cells& cells : rows)
        for (std::size_t i = 0; i < cells.size(); ++i)
            widths[i] = std::max(widths[i], util::display_width(cells[i]));
    std::string text = style(util::TextRole::Dim, line_of(rows.front(), widths)) + '\n';
    for (const Cells& cells : std::span(rows).subspan(1))
        text += line_of(cells, widths) + '\n';
    for (const timeline::FirstPsns& run : runs)
        if (!run.capture_damage.empty())
            text += fmt::format("the capture of {} ends inside a packet\n",
                                util::printable(label(run, runs)));
    return text;
}

util::Json first_psn_json(const timeline::FirstPsns& run, const timeline::FirstPsn& direction) {
    const auto or_null = [](const std::string& text) {
        return text.empty() ? util::Json(nullptr) : util::Json(text);
    };
    util::Json json{{"run", util::printable(run.run)},
                    {"step", or_null(run.step)},
                    {"from", direction.from},
                    {"to", or_null(direction.to)},
                    {"qpn", direction.qpn == 0 ? util::Json(nullptr) : util::Json(direction.qpn)},
                    {"dest_qpn", direction.dest_qpn},
                    {"first_psn", direction.psn ? util::Json(*direction.psn) : util::Json(nullptr)},
                    {"hidden", direction.hidden},
                    {"chosen_by", or_null(direction.chosen_by)},
                    {"readable", nullptr}};
    if (run.has_capture)
        json["readable"] = {{"connect_request", direction.connect_requests},
                            {"connect_reply", direction.connect_replies},
                            {"tcp", direction.tcp_segments},
                            {"bth", direction.bths}};
    return json;
}

}  // namespace render
