#include "render/page/details.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "filter/field.hpp"
#include "util/append.hpp"
#include "util/json.hpp"
#include "wire/header_span.hpp"

namespace page {
namespace {

bool is_contents(wire::Header header) {
    return header == wire::Header::Payload || header == wire::Header::TcpData ||
           header == wire::Header::Rest;
}

void add_bytes(std::string& lines, const capture::Frame& frame, std::size_t offset,
               std::size_t end) {
    util::append_decimal(lines, offset);
    lines += ' ';
    const std::size_t begin = lines.size();
    lines.resize(begin + 2 * (end - offset));
    char* at = lines.data() + begin;
    for (const std::byte byte : frame.bytes.subspan(offset, end - offset))
        at = util::put_hex(at, std::to_integer<std::uint64_t>(byte), 2);
    lines += '\n';
}

std::string bytes_of(const capture::Frame& frame, const std::vector<wire::HeaderSpan>& spans,
                     std::size_t most_payload) {
    std::string lines;
    const std::size_t size = frame.bytes.size();
    const auto is_long = [&](const wire::HeaderSpan& span) {
        return is_contents(span.header) && span.length > most_payload;
    };
    const auto contents = std::ranges::find_if(spans, is_long);
    if (contents == spans.end()) {
        add_bytes(lines, frame, 0, size);
        return lines;
    }
    add_bytes(lines, frame, 0, contents->offset + most_payload);
    if (const std::size_t behind = contents->offset + contents->length; behind < size)
        add_bytes(lines, frame, behind, size);
    return lines;
}

std::string spans_of(const std::vector<wire::HeaderSpan>& spans) {
    std::string lines;
    for (const wire::HeaderSpan& span : spans) {
        lines.append(wire::name(span.header)) += ' ';
        util::append_decimal(lines, span.offset);
        lines += ' ';
        util::append_decimal(lines, span.length);
        lines += '\n';
    }
    return lines;
}

std::string fields_of(const filter::View& view) {
    std::string lines;
    std::size_t number = 0;
    for (const filter::Field& field : filter::fields()) {
        const filter::Value value = field.get(view);
        if (filter::is_there(value) && field.kind != filter::Kind::Present) {
            util::append_decimal(lines, number);
            lines += ' ';
            filter::append(lines, value, field.kind);
            // Wireshark prints PSNs in decimal, the lab's listings in hexadecimal.
            if (field.kind == filter::Kind::Psn) {
                lines += " = 0x";
                util::append_hex(lines, std::get<std::uint64_t>(value), 6);
            }
            lines += '\n';
        }
        ++number;
    }
    return lines;
}

std::string note_of(const wire::Packet& packet) {
    if (packet.malformed)
        return "Malformed: " + packet.malformed->text() + ".";
    if (packet.icrc && packet.icrc->status == wire::IcrcStatus::Bad)
        return "Its ICRC is wrong.";
    return packet.truncated ? "Truncated: " + packet.truncated->text() + "." : "";
}

std::string text_of(const runlog::Value& value) {
    if (const auto* text = std::get_if<std::string>(&value))
        return *text;
    if (const auto* sges = std::get_if<runlog::Sges>(&value)) {
        std::string list;
        for (const runlog::Sge& sge : *sges)
            list += fmt::format("{}{:#x} + {} B, lkey {:#010x}", list.empty() ? "" : "; ", sge.addr,
                                sge.length, sge.lkey);
        return list;
    }
    if (const auto* flag = std::get_if<bool>(&value))
        return *flag ? "yes" : "no";
    if (const auto* number = std::get_if<std::int64_t>(&value))
        return fmt::format("{}", *number);
    const auto number = std::get<std::uint64_t>(value);
    return number < 10 ? fmt::format("{}", number) : fmt::format("{} = {:#x}", number, number);
}

}  // namespace

std::string details_of(const wire::Packet& packet, const capture::Frame& frame,
                       std::uint64_t number, std::size_t most_payload) {
    const auto spans = wire::header_spans(packet, frame.bytes);
    std::string scratch;
    const filter::View view{.number = number,
                            .time = frame.time,
                            .packet = packet,
                            .frame = frame.bytes,
                            .length = frame.original_length,
                            .scratch = scratch};
    return fmt::format(R"({{"spans":{},"bytes":{},"fields":{},"note":{}}})",
                       json_string(spans_of(spans)),
                       json_string(bytes_of(frame, spans, most_payload)),
                       json_string(fields_of(view)), json_string(note_of(packet)));
}

util::Json details_of(const runlog::Event& event) {
    util::Json fields = util::Json::array();
    for (const runlog::Field& field : event.fields) {
        std::string text = text_of(field.value);
        if (event.is("tls_secret"))
            text.resize(std::min(text.size(), text.find(' ')));
        fields.push_back({field.key, std::move(text)});
    }
    return fields;
}

util::Json field_table() {
    util::Json table = util::Json::array();
    for (const filter::Field& field : filter::fields())
        table.push_back({{"name", field.name}, {"help", field.help}});
    return table;
}

util::Json header_names() {
    util::Json names = util::Json::object();
    for (std::size_t index = 0; index <= static_cast<std::size_t>(wire::Header::Trailer); ++index) {
        const auto header = static_cast<wire::Header>(index);
        names[std::string(name(header))] = title(header);
    }
    return names;
}

}  // namespace page
