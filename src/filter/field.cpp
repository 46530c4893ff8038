#include "filter/field.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "filter/field_tables.hpp"
#include "util/error.hpp"
#include "util/printable.hpp"
#include "util/similar.hpp"

namespace filter {
namespace {

std::string_view last_part(std::string_view name) {
    const auto dot = name.rfind('.');
    return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

std::string_view without_prefix(std::string_view name) {
    constexpr std::string_view wiresharks = "infiniband.";
    return name.substr(name.starts_with(wiresharks) ? wiresharks.size() : 0);
}

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' '))
        text.remove_prefix(1);
    while (text.ends_with(' '))
        text.remove_suffix(1);
    return text;
}

const Field* field_or_throw(std::string_view name) {
    if (name.empty())
        throw util::Error(
            "the list of fields has an empty name: write it like 'bth.psn,reth.r_key'.");
    if (const Field* field = find_field(name))
        return field;
    const std::string_view similar = similar_field(name);
    throw util::Error(fmt::format(
        "there is no field '{}'{}: 'rocecap fields' lists the fields.", util::printable(name),
        similar.empty() ? "" : fmt::format(" (did you mean '{}'?)", similar)));
}

void append_tsv(std::string& out, std::size_t from) {
    std::replace_if(
        out.begin() + static_cast<std::ptrdiff_t>(from), out.end(),
        [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
}

void append_csv(std::string& out, std::size_t from) {
    if (out.find_first_of(",\"\r\n", from) == std::string::npos)
        return;
    for (std::size_t at = from; (at = out.find('"', at)) != std::string::npos; at += 2)
        out.insert(at, 1, '"');
    out.insert(from, 1, '"').push_back('"');
}

}  // namespace

std::span<const Field> fields() {
    static const std::vector<Field> all = [] {
        std::vector<Field> fields;
        for (const auto part :
             {frame_fields(), outer_fields(), transport_fields(), cm_fields(),
              upper_problem_fields(), nvme_fields(), upper_fields(), outcome_fields()})
            fields.insert(fields.end(), part.begin(), part.end());
        return fields;
    }();
    return all;
}

const Field* find_field(std::string_view name) {
    const auto find = [](std::span<const Field> in, auto is_it) -> const Field* {
        const auto found = std::ranges::find_if(in, is_it);
        return found == in.end() ? nullptr : &*found;
    };
    const auto is_wiresharks = [&](const Field& field) {
        return !name.empty() && field.extra.wireshark == name;
    };
    if (const Field* field = find(fields(), is_wiresharks))
        return field;
    const auto has_name = [own = without_prefix(name)](const Field& field) {
        return field.name == own;
    };
    const Field* field = find(fields(), has_name);
    return field != nullptr || name.empty() ? field : find(wireshark_fields(), has_name);
}

// An exact last part ("psn" for "bth.psn") counts like one wrong letter.
std::string_view similar_field(std::string_view name) {
    constexpr std::size_t far = 3;
    name = without_prefix(name);
    std::string_view best;
    std::size_t least = far;
    for (const Field& field : fields()) {
        const auto [shorter, longer] = std::minmax({name.size(), field.name.size()});
        const bool is_last_part = last_part(field.name) == name;
        if (longer - shorter >= far && !is_last_part)  // minimum number of missing letters
            continue;
        const std::size_t distance = is_last_part ? 1 : util::edit_distance(name, field.name);
        if (distance < least && 2 * distance < field.name.size()) {
            least = distance;
            best = field.name;
        }
    }
    return best;
}

Row::Row(std::string_view names, Format format) : format_(format) {
    while (true) {
        const auto comma = names.find(',');
        fields_.push_back(field_or_throw(trimmed(names.substr(0, comma))));
        if (comma == std::string_view::npos)
            break;
        names.remove_prefix(comma + 1);
    }
}

std::string Row::header() const {
    std::string line;
    for (const Field* field : fields_)
        line.append(line.empty() ? "" : format_ == Format::Tsv ? "\t" : ",").append(field->name);
    return line + '\n';
}

void Row::append(std::string& out, const View& view) const {
    bool first = true;
    for (const Field* field : fields_) {
        if (!std::exchange(first, false))
            out.push_back(format_ == Format::Tsv ? '\t' : ',');
        const std::size_t from = out.size();
        filter::append(out, field->of(view), field->kind);
        if (field->kind == Kind::Text)
            format_ == Format::Tsv ? append_tsv(out, from) : append_csv(out, from);
    }
    out.push_back('\n');
}

bool Row::needs_icrc() const {
    return std::ranges::any_of(fields_, [](const Field* field) { return field->extra.needs_icrc; });
}

}  // namespace filter
