#include "render/flow_rows.hpp"

#include <array>

#include <fmt/format.h>

#include "render/flow_names.hpp"

namespace render {

std::string counted(std::uint64_t count, std::string_view unit) {
    return count == 0 ? std::string() : fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
}

namespace {

// Three significant digits; the unit is that of the rounded value.
std::string time_text(std::int64_t ns) {
    constexpr double thousand = 1e3;
    constexpr double rounds_up = 999.5;
    auto value = static_cast<double>(ns);
    if (value < thousand)
        return fmt::format("{} ns", ns);
    for (const std::string_view unit : {"us", "ms", "s"}) {
        value /= thousand;
        if (value < rounds_up)
            return fmt::format("{:.3g} {}", value, unit);
    }
    return fmt::format("{:.0f} s", value);
}

// If no sample was stored, only the maximum is known.
std::string latency_text(const flow::LatencySummary& latency) {
    if (latency.count == 0)
        return {};
    const bool has_percentiles = latency.left_out < latency.count;
    return fmt::format("{} / {} / {}, of {}", has_percentiles ? time_text(latency.p50) : "?",
                       has_percentiles ? time_text(latency.p99) : "?", time_text(latency.max),
                       latency.count);
}

std::string bytes_text(const FlowSide& side) {
    if (side.direction.packets == 0)
        return {};
    return fmt::format("{} ({} payload)", side.direction.wire_bytes, side.direction.payload_bytes);
}

std::string active_text(const FlowSide& side) {
    constexpr double second = 1e9;
    const flow::Direction& direction = side.direction;
    if (direction.packets == 0)
        return {};
    return fmt::format("{:.6f} s to {:.6f} s",
                       static_cast<double>(direction.first_ns - side.begin_ns) / second,
                       static_cast<double>(direction.last_ns - side.begin_ns) / second);
}

std::string psns_text(const FlowSide& side) {
    const flow::Requests& requests = side.direction.requests;
    if (requests.packets == 0)
        return {};
    const std::string range =
        fmt::format("{:#08x} to {:#08x}", requests.first_psn, requests.last_psn);
    return side.conversation.is_sequenced ? fmt::format("{}, {} in total", range, requests.psns)
                                          : range;
}

std::string rate_text(const FlowSide& side) {
    const double rate = side.direction.requests.psns_per_second;
    return rate > 0 ? fmt::format("{:.0f} / s", rate) : std::string();
}

std::string missing_text(std::uint64_t missing) {
    return missing == 0 ? "all PSNs arrived later" : counted(missing, "PSN") + " never seen";
}

std::string gaps_text(const FlowSide& side) {
    const flow::Requests& requests = side.direction.requests;
    if (requests.gaps == 0)
        return {};
    return fmt::format("{}, {}", counted(requests.gaps, "gap"), missing_text(requests.missing));
}

std::string late_text(const FlowSide& side) {
    return counted(side.direction.requests.late, "packet");
}

std::string repeats_text(const FlowSide& side) {
    return counted(side.direction.requests.repeats, "packet");
}

std::string copies_text(const FlowSide& side) {
    return counted(side.direction.requests.copies, "packet");
}

std::string restarts_text(const FlowSide& side) {
    return counted(side.direction.requests.restarts, "time");
}

// Columns for R_Keys; "..." replaces keys that do not fit.
constexpr std::size_t rkeys_width = 35;

std::string rkeys_text(const FlowSide& side) {
    std::string text;
    for (const std::uint32_t rkey : side.direction.requests.rkeys) {
        const std::string key = fmt::format("{}{:#x}", text.empty() ? "" : " ", rkey);
        if (text.size() + key.size() + 4 > rkeys_width)
            return text + " ...";
        text += key;
    }
    return side.direction.requests.rkeys.others() != 0 ? text + " ..." : text;
}

std::string acks_text(const FlowSide& side) {
    const flow::Responses& responses = side.direction.responses;
    if (responses.acks == 0)
        return {};
    if (responses.counted_acks == 0)
        return std::to_string(responses.acks);
    const double mean =
        static_cast<double>(responses.psns_acked) / static_cast<double>(responses.counted_acks);
    return fmt::format("{}, each for {:.1f} packets, up to {}", responses.acks, mean,
                       responses.most_acked);
}

std::string naks_text(const FlowSide& side) {
    std::string text;
    const auto& naks = side.direction.responses.naks;
    for (std::size_t code = 0; code < naks.size(); ++code)
        if (naks[code] != 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", naks[code], nak_name(code));
    return text;
}

std::string rnr_text(const FlowSide& side) {
    return counted(side.direction.responses.rnr_naks, "time");
}

std::string responses_repeated_text(const FlowSide& side) {
    return counted(side.direction.responses.repeats, "packet");
}

std::string responses_missing_text(const FlowSide& side) {
    const flow::Responses& responses = side.direction.responses;
    return responses.gaps == 0 ? std::string()
                               : fmt::format("{}, {}", counted(responses.gaps, "gap"),
                                             missing_text(responses.missing));
}

std::string unmeasured_text(const FlowSide& side) {
    return counted(side.direction.requests.unmeasured, "request");
}

std::string ack_text(const FlowSide& side) {
    return latency_text(side.direction.requests.ack);
}
std::string read_first_text(const FlowSide& side) {
    return latency_text(side.direction.requests.read_first);
}
std::string read_last_text(const FlowSide& side) {
    return latency_text(side.direction.requests.read_last);
}

std::string marks_text(const FlowSide& side) {
    const flow::Marks& marks = side.direction.marks;
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

std::string malformed_text(const FlowSide& side) {
    return counted(side.direction.malformed, "packet");
}

std::string icrc_text(const FlowSide& side) {
    if (side.direction.icrc_bad == 0)
        return {};
    return fmt::format("{} of {}", side.direction.icrc_bad, side.direction.icrc_checked);
}

std::string packets_text(const FlowSide& side) {
    return std::to_string(side.direction.packets);
}

constexpr auto rows_before_messages = std::to_array<FlowRow>({
    {"packets", packets_text},
    {"bytes", bytes_text},
    {"active", active_text},
});
constexpr auto rows_behind_messages = std::to_array<FlowRow>({
    {"request PSNs", psns_text},
    {"PSN rate", rate_text},
    {"retransmitted", repeats_text, util::TextRole::Notice},
    {"copied", copies_text},
    {"late", late_text, util::TextRole::Notice},
    {"gaps", gaps_text, util::TextRole::Notice},
    {"PSN restarts", restarts_text, util::TextRole::Notice},
    {"rkeys used", rkeys_text},
    {"ACK latency", ack_text},
    {"READ, first response", read_first_text},
    {"READ, last response", read_last_text},
    {"without latency", unmeasured_text},
    {"ACKs sent", acks_text},
    {"NAKs sent", naks_text, util::TextRole::Bad},
    {"RNR NAKs sent", rnr_text, util::TextRole::Notice},
    {"responses repeated", responses_repeated_text, util::TextRole::Notice},
    {"responses missing", responses_missing_text, util::TextRole::Notice},
    {"congestion marks", marks_text, util::TextRole::Notice},
    {"malformed", malformed_text, util::TextRole::Bad},
    {"bad ICRC", icrc_text, util::TextRole::Bad},
});

}  // namespace

std::span<const FlowRow> flow_rows_before_messages() {
    return rows_before_messages;
}

std::span<const FlowRow> flow_rows_behind_messages() {
    return rows_behind_messages;
}

}  // namespace render
