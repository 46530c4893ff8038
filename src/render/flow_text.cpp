#include "render/flow_text.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "render/flow_names.hpp"
#include "render/flow_rows.hpp"

namespace render {
namespace {

constexpr std::size_t label_width = 26;
constexpr std::size_t column_width = 36;
constexpr std::size_t text_width = 2 + label_width + 2 * column_width;

class Table {
  public:
    Table(const flow::Conversation& conversation, std::int64_t begin_ns,
          const util::TextStyle& style)
        : conversation_(conversation), style_(style) {
        sides_.push_back({conversation.forward, conversation, begin_ns});
        if (conversation.backward)
            sides_.push_back({*conversation.backward, conversation, begin_ns});
    }

    std::string text() {
        title();
        add_columns("", [](const FlowSide& side) {
            return fmt::format("to qp {:#x}", side.direction.dest_qpn);
        });
        for (const FlowRow& row : flow_rows_before_messages())
            add_columns(row.label, row.text, row.role);
        for (std::size_t kind = 0; kind < flow::message_kinds; ++kind)
            add_columns(name(static_cast<flow::MessageKind>(kind)), [kind](const FlowSide& side) {
                return counted(side.direction.messages[kind], "message");
            });
        for (const FlowRow& row : flow_rows_behind_messages())
            add_columns(row.label, row.text, row.role);
        return out_ + '\n';
    }

  private:
    void title() {
        const flow::Direction& forward = conversation_.forward;
        const std::string from =
            forward.src_qpn ? fmt::format(" qp {:#x}", *forward.src_qpn) : std::string();
        const std::string begin =
            fmt::format("{}  {}  {}{}", style_(util::TextRole::Dim, number()),
                        name(conversation_.transport), text_of(forward.src), from);
        const std::string end = fmt::format("{} {} qp {:#x}", conversation_.backward ? "↔" : "→",
                                            text_of(forward.dst), forward.dest_qpn);
        const bool fits = util::display_width(begin) + 1 + util::display_width(end) <= text_width;
        out_ += begin + (fits ? " " : "\n  ") + end + '\n';
        out_ += fmt::format("  {}{}{}\n", pairing(), path_mtu(),
                            conversation_.is_doubled ? "; captured twice" : "");
    }

    std::string number() const { return fmt::format("#{}", conversation_.number); }
    std::string text_of(const flow::Host& host) const {
        return flow::text(host, conversation_.network);
    }

    std::string pairing() const {
        switch (conversation_.pairing) {
            case flow::Pairing::None:
                return conversation_.forward.src_qpn ? "no packets of the other direction"
                                                     : "the other direction is not known";
            case flow::Pairing::AckGuess:
                return style_(util::TextRole::Notice,
                              "paired by a guess: PSNs of responses fit its requests");
            case flow::Pairing::LeftOver:
                return style_(
                    util::TextRole::Notice,
                    "paired by a guess: no other directions are left between these hosts");
            default:
                return fmt::format("paired by {}", name(conversation_.pairing));
        }
    }
    std::string path_mtu() const {
        return conversation_.path_mtu == 0 ? std::string()
                                           : fmt::format("; path MTU {}", conversation_.path_mtu);
    }

    template <typename Text>
    void add_columns(std::string_view label, Text value,
                     util::TextRole role = util::TextRole::Plain) {
        std::vector<std::vector<std::string>> cells;
        std::size_t height = 0;
        for (const FlowSide& side : sides_) {
            cells.push_back(lines_of(value(side)));
            height = std::max(height, cells.back().size());
        }
        for (std::size_t i = 0; i < height; ++i) {
            std::string line = "  " + util::padded(i == 0 ? label : "", label_width);
            for (const auto& cell : cells)
                line += i < cell.size() ? style_(role, cell[i]) + padding(cell[i])
                                        : util::padded("", column_width);
            out_ += trimmed(line) + '\n';
        }
    }

    // Breaks lines after commas, so that the columns keep their width.
    static std::vector<std::string> lines_of(std::string_view cell) {
        std::vector<std::string> lines;
        while (!cell.empty()) {
            const std::size_t comma = cell.find(',');
            const std::string_view part = cell.substr(
                0, comma == std::string_view::npos ? std::string_view::npos : comma + 1);
            cell.remove_prefix(part.size());
            cell.remove_prefix(std::min(cell.find_first_not_of(' '), cell.size()));
            if (!lines.empty() && lines.back().size() + 1 + part.size() < column_width)
                lines.back().append(" ").append(part);
            else
                lines.emplace_back(part);
        }
        return lines;
    }

    static std::string padding(std::string_view cell) {
        const std::size_t width = util::display_width(cell);
        return std::string(width < column_width ? column_width - width : 1, ' ');
    }
    static std::string trimmed(std::string line) {
        line.erase(line.find_last_not_of(' ') + 1);
        return line;
    }

    const flow::Conversation& conversation_;
    const util::TextStyle& style_;
    std::vector<FlowSide> sides_;
    std::string out_;
};

}  // namespace

std::string flow_text(const flow::Conversation& conversation, std::chrono::nanoseconds begin,
                      const util::TextStyle& style) {
    return Table(conversation, begin.count(), style).text();
}

std::string flow_totals_text(const flow::Totals& totals, const util::TextStyle& style) {
    std::string text = fmt::format("{}", counted(totals.packets, "packet"));
    if (totals.packets == 0)
        text = "no packets";
    if (totals.not_roce != 0)
        text += fmt::format(", {} of them not RoCE", totals.not_roce);
    if (totals.malformed != 0)
        text += style(util::TextRole::Bad, fmt::format(", {} malformed", totals.malformed));
    if (totals.unreadable != 0)
        text += style(util::TextRole::Notice,
                      fmt::format(", {} truncated before the BTH", totals.unreadable));
    text += '\n';
    if (totals.evicted_streams != 0)
        text += style(util::TextRole::Notice,
                      fmt::format("{} directions with {} packets were dropped to limit memory: use "
                                  "a larger --max-flows",
                                  totals.evicted_streams, totals.evicted_packets)) +
                '\n';
    return text;
}

}  // namespace render
