#include "render/page/details.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// Lines are the characters of a JSON string.
constexpr std::string_view end_of_line = R"(\n)";

void add_bytes(std::string& json, util::Bytes frame, std::size_t offset, std::size_t end) {
    util::append_decimal(json, offset);
    json += ' ';
    const std::size_t begin = json.size();
    json.resize(begin + 2 * (end - offset));
    char* at = json.data() + begin;
    for (const std::byte byte : frame.subspan(offset, end - offset))
        at = util::put_hex(at, std::to_integer<std::uint64_t>(byte), 2);
    json += end_of_line;
}

void add_bytes(std::string& json, util::Bytes frame, const std::vector<wire::HeaderSpan>& spans,
               std::size_t most_payload) {
    const auto is_long = [&](const wire::HeaderSpan& span) {
        return is_contents(span.header) && span.length > most_payload;
    };
    const auto contents = std::ranges::find_if(spans, is_long);
    if (contents == spans.end())
        return add_bytes(json, frame, 0, frame.size());
    add_bytes(json, frame, 0, contents->offset + most_payload);
    if (const std::size_t behind = contents->offset + contents->length; behind < frame.size())
        add_bytes(json, frame, behind, frame.size());
}

void add_spans(std::string& json, const std::vector<wire::HeaderSpan>& spans) {
    for (const wire::HeaderSpan& span : spans) {
        json.append(wire::name(span.header)) += ' ';
        util::append_decimal(json, span.offset);
        json += ' ';
        util::append_decimal(json, span.length);
        json += end_of_line;
    }
}

// By the number of a header: that of the first field behind its own.
std::vector<std::size_t> ends_of_headers() {
    const auto fields = filter::fields();
    std::vector<std::size_t> ends(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const std::string prefix = std::string(fields[i].name) + '.';
        ends[i] = i + 1;
        while (fields[i].kind == filter::Kind::Present && ends[i] < fields.size() &&
               fields[ends[i]].name.starts_with(prefix))
            ++ends[i];
    }
    return ends;
}

void add_value(std::string& json, const filter::Value& value, filter::Kind kind) {
    if (kind != filter::Kind::Text)
        return filter::append(json, value, kind);
    std::string text;
    filter::append(text, value, kind);
    const std::string quoted = json_string(text);
    json.append(quoted, 1, quoted.size() - 2);
}

void add_fields(std::string& json, const filter::View& view) {
    static const std::vector<std::size_t> ends = ends_of_headers();
    const auto fields = filter::fields();
    for (std::size_t number = 0; number < fields.size();) {
        const filter::Field& field = fields[number];
        const filter::Value value = field.get(view);
        if (!filter::is_there(value)) {
            number = ends[number];
            continue;
        }
        if (field.kind != filter::Kind::Present) {
            util::append_decimal(json, number);
            json += ' ';
            add_value(json, value, field.kind);
            // Wireshark prints PSNs in decimal, the lab's listings in hexadecimal.
            if (field.kind == filter::Kind::Psn) {
                json += " = 0x";
                util::append_hex(json, std::get<std::uint64_t>(value), 6);
            }
            json += end_of_line;
        }
        ++number;
    }
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

// A packet with the bytes that it was decoded from.
struct KeptPacket {
    KeptPacket(const wire::Packet& decoded, const capture::Frame& from)
        : bytes(from.bytes.begin(), from.bytes.end()), frame(from), packet(decoded) {
        frame.bytes = bytes;
        frame.notes = {};
        if (!packet.payload.empty())
            packet.payload = frame.bytes.subspan(
                static_cast<std::size_t>(packet.payload.data() - from.bytes.data()),
                packet.payload.size());
    }

    std::vector<std::byte> bytes;
    capture::Frame frame;
    wire::Packet packet;
};

}  // namespace

void append_details(std::string& json, const wire::Packet& packet, const capture::Frame& frame,
                    std::uint64_t number, std::size_t most_payload) {
    const auto spans = wire::header_spans(packet, frame.bytes);
    std::string scratch;
    const filter::View view{.number = number,
                            .time = frame.time,
                            .packet = packet,
                            .frame = frame.bytes,
                            .length = frame.original_length,
                            .scratch = scratch};
    json += R"({"spans":")";
    add_spans(json, spans);
    json += R"(","bytes":")";
    add_bytes(json, frame.bytes, spans, most_payload);
    json += R"(","fields":")";
    add_fields(json, view);
    json += R"(","note":)";
    json += json_string(note_of(packet));
    json += '}';
}

Archive::Value details_later(const wire::Packet& packet, const capture::Frame& frame,
                             std::uint64_t number, std::size_t most_payload) {
    // Few packets have one of these, which are views.
    if (packet.cm || packet.outer || (packet.icrc && packet.icrc->hint != nullptr)) {
        std::string made;
        append_details(made, packet, frame, number, most_payload);
        return [made = std::move(made)](std::string& json) { json += made; };
    }
    const auto kept = std::make_shared<KeptPacket>(packet, frame);
    return [kept, number, most_payload](std::string& json) {
        append_details(json, kept->packet, kept->frame, number, most_payload);
    };
}

std::string details_of(const runlog::Event& event) {
    std::string json;
    for (const runlog::Field& field : event.fields) {
        std::string text = text_of(field.value);
        if (event.is("tls_secret"))
            text.resize(std::min(text.size(), text.find(' ')));
        json += fmt::format("{}[{},{}]", json.empty() ? "" : ",", json_string(field.key),
                            json_string(text));
    }
    return '[' + json + ']';
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
