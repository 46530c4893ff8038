#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "runlog/event.hpp"
#include "runlog/text_row.hpp"
#include "util/printable.hpp"

namespace runlog {
namespace {

constexpr std::string_view gathered = "[  from {sges}][ and {more_sges} more][  {send_flags}]";
constexpr std::string_view scattered = "[  into {sges}][ and {more_sges} more]";

// The beginning and the end of the next {key} or {key:form} in a pattern.
struct Place {
    explicit constexpr Place(std::string_view pattern)
        : open(pattern.find('{')), close(pattern.find('}', open)) {
        if (open == std::string_view::npos)
            return;
        const auto place = pattern.substr(open + 1, close - open - 1);
        const auto colon = place.find(':');
        key = place.substr(0, colon);
        form = colon == std::string_view::npos ? '\0' : place[colon + 1];
    }
    std::size_t open, close;
    std::string_view key;
    char form = 0;
};

constexpr bool fits(std::string_view pattern, const KeyList& keys) {
    for (Place at(pattern); at.open != std::string_view::npos; at = Place(pattern)) {
        if (!keys.has(at.key))
            return false;
        pattern.remove_prefix(at.close + 1);
    }
    return true;
}
static_assert(std::ranges::all_of(event_rows,
                                  [](const EventRow& row) { return fits(row.text, row.keys); }),
              "a pattern has a key that its event has not");
static_assert(fits(gathered, EventName("post_send").row().keys) &&
              fits(scattered, EventName("post_recv").row().keys));

std::string text_of(const Sges& sges) {
    std::string text;
    for (const Sge& sge : sges)
        text += fmt::format("{}{:#x}+{} lkey {:#010x}", text.empty() ? "" : ", ", sge.addr,
                            sge.length, sge.lkey);
    return text;
}

std::string render(const Value& value, char form) {
    if (const auto* sges = std::get_if<Sges>(&value))
        return text_of(*sges);
    if (const auto* text = std::get_if<std::string>(&value)) {
        if (form != 'w')
            return util::printable(*text);
        const auto end = text->find(' ');
        return end == std::string::npos ? std::string() : util::printable(text->substr(0, end));
    }
    if (const auto* flag = std::get_if<bool>(&value))
        return *flag ? "yes" : "no";
    if (const auto* number = std::get_if<std::int64_t>(&value))
        return fmt::format("{}", *number);
    const auto number = std::get<std::uint64_t>(value);
    switch (form) {
        case 'x':
            return fmt::format("{:#x}", number);
        case '6':
            return fmt::format("{:#08x}", number);
        case '8':
            return fmt::format("{:#010x}", number);
        default:
            return fmt::format("{}", number);
    }
}

// Renders `pattern` (without brackets); false if one of its fields is missing.
bool expand(const Event& event, std::string_view pattern, std::string& out) {
    bool complete = true;
    while (!pattern.empty()) {
        const Place at(pattern);
        out += pattern.substr(0, at.open);
        if (at.open == std::string_view::npos)
            break;
        if (const Value* value = event.find(at.key))
            out += render(*value, at.form);
        else
            complete = false;
        pattern.remove_prefix(at.close + 1);
    }
    return complete;
}

std::string from_pattern(const Event& event, std::string_view pattern) {
    std::string out;
    while (!pattern.empty()) {
        const auto open = pattern.find('[');
        expand(event, pattern.substr(0, open), out);
        if (open == std::string_view::npos)
            break;
        const auto close = pattern.find(']', open);
        std::string optional_part;
        if (expand(event, pattern.substr(open + 1, close - open - 1), optional_part))
            out += optional_part;
        pattern.remove_prefix(close + 1);
    }
    return out;
}

// Empty: an event of a later version.
std::string_view pattern_of(std::string_view event) {
    if (const EventRow* row = row_of(event); row != nullptr && !row->text.empty())
        return row->text;
    const auto row = std::ranges::find(lesson_rows, event, &TextRow::event);
    return row == lesson_rows.end() ? std::string_view() : row->pattern;
}

}  // namespace

std::string time_of_day(std::int64_t t_ns) {
    constexpr std::int64_t day = 86'400;
    constexpr std::int64_t second = 1'000'000'000;
    const std::int64_t s = t_ns / second % day;
    return fmt::format("{:02}:{:02}:{:02}.{:06}", s / 3600, s / 60 % 60, s % 60,
                       t_ns % second / 1000);
}

std::string to_text(const Event& event) {
    std::string out = fmt::format("{:<9} ", util::printable(event.name));
    if (const auto pattern = pattern_of(event.name); !pattern.empty())
        return out + from_pattern(event, pattern);
    for (const Field& field : event.fields)
        out += fmt::format(" {}={}", util::printable(field.key), render(field.value, 0));
    return out;
}

std::string request_text(const Event& event) {
    const bool is_send = event.is("post_send") || !event[key::opcode].empty();
    if (event.is_one_of({"post_send", "failed"}))
        return from_pattern(event, is_send ? gathered : scattered);
    return event.is("post_recv") ? from_pattern(event, scattered) : "";
}

std::string duration_text(const Event& event, std::uint64_t least_ms) {
    constexpr std::uint64_t us_per_ms = 1000;
    if (event[key::unfinished])
        return "  has not returned";
    const auto took_us = event[key::took_us];
    if (!took_us || *took_us < least_ms * us_per_ms)
        return {};
    return fmt::format("  took {} ms", *took_us / us_per_ms);
}

}  // namespace runlog
