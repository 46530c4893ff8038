#include "report/flow_text.hpp"

#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "report/flow_names.hpp"

namespace report {
namespace {

constexpr std::size_t label_width = 20;
constexpr std::size_t column_width = 39;

struct Source {
    const flow::Direction& direction;
    const flow::Conversation& conversation;
    std::int64_t begin_ns;
};

struct Row {
    std::string_view label;
    std::string (*text)(const Source&);  // empty: nothing to say
    Role role = Role::Plain;
};

std::string counted(std::uint64_t count, std::string_view unit) {
    return count == 0 ? std::string() : fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
}

std::string time_text(std::int64_t ns) {
    constexpr double microsecond = 1e3;
    constexpr double millisecond = 1e6;
    constexpr double second = 1e9;
    const auto value = static_cast<double>(ns);
    if (value < microsecond)
        return fmt::format("{} ns", ns);
    if (value < millisecond)
        return fmt::format("{:.3g} us", value / microsecond);
    if (value < second)
        return fmt::format("{:.3g} ms", value / millisecond);
    return fmt::format("{:.3g} s", value / second);
}

std::string latency_text(const flow::LatencySummary& latency) {
    if (latency.count == 0)
        return {};
    return fmt::format("{} / {} / {} ({})", time_text(latency.p50), time_text(latency.p99),
                       time_text(latency.max), latency.count);
}

std::string bytes_text(const Source& source) {
    if (source.direction.packets == 0)
        return {};
    return fmt::format("{} ({} payload)", source.direction.wire_bytes,
                       source.direction.payload_bytes);
}

std::string active_text(const Source& source) {
    constexpr double second = 1e9;
    const flow::Direction& direction = source.direction;
    if (direction.packets == 0)
        return {};
    return fmt::format("{:.6f} s to {:.6f} s",
                       static_cast<double>(direction.first_ns - source.begin_ns) / second,
                       static_cast<double>(direction.last_ns - source.begin_ns) / second);
}

std::string psns_text(const Source& source) {
    const flow::Requests& requests = source.direction.requests;
    if (requests.packets == 0)
        return {};
    const std::string range =
        fmt::format("{:#08x} to {:#08x}", requests.first_psn, requests.last_psn);
    return source.conversation.is_sequenced ? fmt::format("{}, {} in all", range, requests.psns)
                                            : range;
}

std::string rate_text(const Source& source) {
    const double rate = source.direction.requests.psns_per_second;
    return rate > 0 ? fmt::format("{:.0f} / s", rate) : std::string();
}

std::string gaps_text(const Source& source) {
    const flow::Requests& requests = source.direction.requests;
    if (requests.gaps == 0)
        return {};
    return fmt::format(
        "{}, {} never passed", counted(requests.gaps, "gap"),
        counted(requests.missing, "PSN").empty() ? "all PSNs" : counted(requests.missing, "PSN"));
}

std::string late_text(const Source& source) {
    return counted(source.direction.requests.late, "packet");
}

std::string repeats_text(const Source& source) {
    return counted(source.direction.requests.repeats, "packet");
}

std::string restarts_text(const Source& source) {
    return counted(source.direction.requests.restarts, "time");
}

std::string rkeys_text(const Source& source) {
    std::string text;
    for (const std::uint32_t rkey : source.direction.requests.rkeys) {
        const std::string key = fmt::format("{}{:#x}", text.empty() ? "" : " ", rkey);
        if (text.size() + key.size() + 4 > column_width)
            return text + " ...";
        text += key;
    }
    return source.direction.requests.rkeys.others() != 0 ? text + " ..." : text;
}

std::string acks_text(const Source& source) {
    const flow::Responses& responses = source.direction.responses;
    if (responses.acks == 0)
        return {};
    if (responses.counted_acks == 0)
        return std::to_string(responses.acks);
    const double mean =
        static_cast<double>(responses.psns_acked) / static_cast<double>(responses.counted_acks);
    return fmt::format("{}, for {:.1f} packets each, at most {}", responses.acks, mean,
                       responses.most_acked);
}

std::string naks_text(const Source& source) {
    std::string text;
    const auto& naks = source.direction.responses.naks;
    for (std::size_t code = 0; code < naks.size(); ++code)
        if (naks[code] != 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", naks[code], nak_name(code));
    return text;
}

std::string rnr_text(const Source& source) {
    return counted(source.direction.responses.rnr_naks, "time");
}

std::string responses_repeated_text(const Source& source) {
    return counted(source.direction.responses.repeats, "packet");
}

std::string responses_missing_text(const Source& source) {
    const flow::Responses& responses = source.direction.responses;
    return responses.gaps == 0 ? std::string()
                               : fmt::format("{}, {} PSNs never passed",
                                             counted(responses.gaps, "gap"), responses.missing);
}

std::string ack_text(const Source& source) {
    return latency_text(source.direction.requests.ack);
}
std::string read_first_text(const Source& source) {
    return latency_text(source.direction.requests.read_first);
}
std::string read_last_text(const Source& source) {
    return latency_text(source.direction.requests.read_last);
}

std::string marks_text(const Source& source) {
    const flow::Marks& marks = source.direction.marks;
    std::string text;
    const auto add = [&](std::uint64_t count, std::string_view label) {
        if (count != 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, label);
    };
    add(marks.ce, "CE");
    add(marks.fecn, "FECN");
    add(marks.becn, "BECN");
    add(marks.cnps, "CNP");
    return text;
}

std::string malformed_text(const Source& source) {
    return counted(source.direction.malformed, "packet");
}

std::string icrc_text(const Source& source) {
    if (source.direction.icrc_bad == 0)
        return {};
    return fmt::format("{} of {}", source.direction.icrc_bad, source.direction.icrc_checked);
}

std::string packets_text(const Source& source) {
    return std::to_string(source.direction.packets);
}

constexpr auto rows_before_messages = std::to_array<Row>({
    {"packets", packets_text},
    {"bytes", bytes_text},
    {"active", active_text},
});
constexpr auto rows_behind_messages = std::to_array<Row>({
    {"request PSNs", psns_text},
    {"PSN rate", rate_text},
    {"retransmitted", repeats_text, Role::Notice},
    {"late", late_text, Role::Notice},
    {"gaps", gaps_text, Role::Notice},
    {"PSNs began anew", restarts_text, Role::Notice},
    {"rkeys used", rkeys_text},
    {"ACK latency", ack_text},
    {"READ, first answer", read_first_text},
    {"READ, last answer", read_last_text},
    {"ACKs sent", acks_text},
    {"NAKs sent", naks_text, Role::Bad},
    {"RNR NAKs sent", rnr_text, Role::Notice},
    {"answers repeated", responses_repeated_text, Role::Notice},
    {"answers missing", responses_missing_text, Role::Notice},
    {"congestion marks", marks_text, Role::Notice},
    {"malformed", malformed_text, Role::Bad},
    {"bad ICRC", icrc_text, Role::Bad},
});

class Table {
  public:
    Table(const flow::Conversation& conversation, std::int64_t begin_ns, const Style& style)
        : conversation_(conversation), style_(style) {
        sources_.push_back({conversation.forward, conversation, begin_ns});
        if (conversation.backward)
            sources_.push_back({*conversation.backward, conversation, begin_ns});
    }

    std::string text() {
        title();
        add_columns("", [](const Source& source) {
            return fmt::format("to qp {:#x}", source.direction.dest_qpn);
        });
        for (const Row& row : rows_before_messages)
            add_columns(row.label, row.text, row.role);
        for (std::size_t kind = 0; kind < flow::message_kinds; ++kind)
            add_columns(name(static_cast<flow::Message>(kind)), [kind](const Source& source) {
                return counted(source.direction.messages[kind], "message");
            });
        for (const Row& row : rows_behind_messages)
            add_columns(row.label, row.text, row.role);
        return out_ + '\n';
    }

  private:
    void title() {
        const flow::Direction& forward = conversation_.forward;
        const std::string from =
            forward.src_qpn ? fmt::format(" qp {:#x}", *forward.src_qpn) : std::string();
        out_ +=
            fmt::format("{}  {}  {}{} {} {} qp {:#x}\n", style_(Role::Dim, number()),
                        name(conversation_.transport), text_of(forward.src), from,
                        conversation_.backward ? "↔" : "→", text_of(forward.dst), forward.dest_qpn);
        out_ += fmt::format("  {}{}{}\n", pairing(), path_mtu(),
                            conversation_.is_doubled ? "; each packet was captured twice" : "");
    }

    std::string number() const { return fmt::format("#{}", conversation_.number); }
    std::string text_of(const flow::Host& host) const {
        return flow::text(host, conversation_.network);
    }

    std::string pairing() const {
        switch (conversation_.pairing) {
            case flow::Pairing::None:
                return "the other direction is not known";
            case flow::Pairing::AckGuess:
                return style_(Role::Notice,
                              "paired by a guess: PSNs of responses fit its requests");
            default:
                return fmt::format("paired by {}", name(conversation_.pairing));
        }
    }
    std::string path_mtu() const {
        return conversation_.path_mtu == 0 ? std::string()
                                           : fmt::format("; path MTU {}", conversation_.path_mtu);
    }

    template <typename Text>
    void add_columns(std::string_view label, Text value, Role role = Role::Plain) {
        std::string line = "  " + padded(label, label_width);
        bool says_something = false;
        for (const Source& source : sources_) {
            const std::string cell = value(source);
            says_something = says_something || !cell.empty();
            line += cell.empty() ? padded("", column_width) : style_(role, cell) + padding(cell);
        }
        if (says_something)
            out_ += trimmed(line) + '\n';
    }

    static std::string padding(std::string_view cell) {
        const std::size_t width = display_width(cell);
        return std::string(width < column_width ? column_width - width : 1, ' ');
    }
    static std::string trimmed(std::string line) {
        line.erase(line.find_last_not_of(' ') + 1);
        return line;
    }

    const flow::Conversation& conversation_;
    const Style& style_;
    std::vector<Source> sources_;
    std::string out_;
};

}  // namespace

std::string flow_text(const flow::Conversation& conversation, std::chrono::nanoseconds begin,
                      const Style& style) {
    return Table(conversation, begin.count(), style).text();
}

std::string flow_totals_text(const flow::Totals& totals, const Style& style) {
    std::string text = fmt::format("{}", counted(totals.packets, "packet"));
    if (totals.packets == 0)
        text = "no packets";
    if (totals.not_roce != 0)
        text += fmt::format(", {} of them not RoCE", totals.not_roce);
    if (totals.malformed != 0)
        text += style(Role::Bad, fmt::format(", {} malformed", totals.malformed));
    if (totals.unreadable != 0)
        text += style(Role::Notice, fmt::format(", {} cut before the BTH", totals.unreadable));
    text += '\n';
    if (totals.evicted_streams != 0)
        text += style(Role::Notice,
                      fmt::format("{} directions with {} packets were forgotten to make room: "
                                  "--max-flows keeps more",
                                  totals.evicted_streams, totals.evicted_packets)) +
                '\n';
    return text;
}

}  // namespace report
