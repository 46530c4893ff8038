#include "filter/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <vector>

#include "util/append.hpp"
#include "util/composer.hpp"
#include "util/json_text.hpp"

namespace filter {
namespace {

using namespace std::string_view_literals;

// A part of an object: a field, a header followed by its parts, or an array of headers.
struct Part {
    enum class Shape : std::uint8_t { Member, Object, Array };
    static constexpr std::size_t key_room = 40;

    Value (*get)(const View&) = nullptr;  // nullptr for an array
    std::size_t end = 0;                  // index after the last part within it
    Shape shape{};
    Kind kind{};
    std::uint8_t key_size = 0;
    std::array<char, key_room> key{};  // "name": or nothing for an array element
};

// The table of fields as a tree, with its parts in output order.
class Plan {
  public:
    Plan() { members(0, ""); }
    const std::vector<Part>& parts() const { return parts_; }

  private:
    static constexpr std::string_view array_mark = "[]";

    // Adds the fields from `i` on whose names begin with `prefix` (a header's name and a dot).
    // Returns the first one that does not.
    std::size_t members(std::size_t i, const std::string& prefix) {
        while (i < fields_.size() && fields_[i].name.starts_with(prefix)) {
            const std::string_view json = fields_[i].extra.json;
            if (json == not_in_json)
                ++i;
            else if (json.ends_with(array_mark))
                i = array(i);
            else
                i = member(i, json.empty() ? fields_[i].name.substr(prefix.size()) : json);
        }
        return i;
    }

    std::size_t member(std::size_t i, std::string_view key) {
        const Field& field = fields_[i];
        const bool is_header = field.kind == Kind::Present;
        const std::size_t part = add(key, is_header ? Part::Shape::Object : Part::Shape::Member);
        parts_[part].get = field.get.read;
        parts_[part].kind = field.kind;
        ++i;
        if (is_header)
            i = members(i, std::string(field.name) + '.');
        parts_[part].end = parts_.size();
        return i;
    }

    // Adds the array that starts with header `i`, and all headers that are its elements.
    std::size_t array(std::size_t i) {
        const std::string_view json = fields_[i].extra.json;
        const std::size_t part =
            add(json.substr(0, json.size() - array_mark.size()), Part::Shape::Array);
        while (i < fields_.size() && fields_[i].extra.json == json)
            i = member(i, {});
        parts_[part].end = parts_.size();
        return i;
    }

    std::size_t add(std::string_view key, Part::Shape shape) {
        Part part;
        part.shape = shape;
        if (!key.empty())
            for (const char c : '"' + std::string(key) + "\":")
                part.key.at(part.key_size++) = c;
        parts_.push_back(part);
        return parts_.size() - 1;
    }

    std::span<const Field> fields_ = fields();
    std::vector<Part> parts_;
};

// Maximum length of a value other than text and bytes.
constexpr std::size_t longest_value = 48;

struct AppendJson {
    util::Composer& out;
    Kind kind;

    void operator()(std::monostate) const {}
    void operator()(Null) const { out.append("null"sv); }
    void operator()(std::uint64_t number) const {
        out.end_at(util::put_decimal(out.room(longest_value), number));
    }
    void operator()(std::int64_t number) const {
        char* at = out.room(longest_value);
        out.end_at(kind == Kind::Time ? put_seconds(at, number) : util::put_decimal(at, number));
    }
    void operator()(bool flag) const { out.append(flag ? "true"sv : "false"sv); }
    // Always with a decimal point, so that readers always see a floating-point number.
    void operator()(double number) const {
        if (!std::isfinite(number))
            return out.append("null");
        char* const begin = out.room(longest_value);
        char* end = std::to_chars(begin, begin + longest_value, number).ptr;
        out.end_at(end);
        if (std::none_of(begin, end, [](char c) { return c == '.' || c == 'e'; }))
            out.append(".0");
    }
    void operator()(std::string_view text) const { util::append_json_string(out, text); }
    template <std::size_t N, typename Tag>
    void operator()(const wire::AddressBytes<N, Tag>& address) const {
        char* at = out.room(longest_value);
        *at++ = '"';
        at = wire::put(at, address);
        *at++ = '"';
        out.end_at(at);
    }
    void operator()(const Octets& octets) const {
        out.append('"');
        for (const std::byte byte : octets.bytes)
            out.end_at(util::put_hex(out.room(2), std::to_integer<unsigned>(byte), 2));
        out.append('"');
    }
};

class Writer {
  public:
    Writer(std::string& out, const View& view, const std::vector<Part>& parts)
        : out_(out), view_(view), parts_(parts) {}

    // Writes the parts from `i` to `end`.
    void object(std::size_t i, std::size_t end) {
        char before = '{';
        while (i < end) {
            const Part& part = parts_[i];
            if (part.shape == Part::Shape::Member) {
                member(part, before);
                ++i;  // not part.end: most parts are members, and this avoids waiting for a load
                continue;
            }
            if (part.shape == Part::Shape::Array)
                array(i, before);
            else if (is_there(part.get(view_))) {
                begin(part, before);
                object(i + 1, part.end);
            }
            i = part.end;
        }
        if (before == '{')
            out_.append('{');
        out_.append('}');
    }

  private:
    void member(const Part& part, char& before) {
        const Value value = part.get(view_);
        if (value.index() == 0)
            return;
        begin(part, before);
        std::visit(AppendJson{out_, part.kind}, value);
    }

    // Writes nothing if there is no element.
    void array(std::size_t i, char& before) {
        const Part& array = parts_[i];
        char before_element = '[';
        for (++i; i < array.end; i = parts_[i].end) {
            if (!is_there(parts_[i].get(view_)))
                continue;
            if (before_element == '[')
                begin(array, before);
            out_.append(std::exchange(before_element, ','));
            object(i + 1, parts_[i].end);
        }
        if (before_element == ',')
            out_.append(']');
    }

    // Writes the separator before a member, and its key.
    void begin(const Part& part, char& before) {
        char* at = out_.room(1 + Part::key_room);
        *at = std::exchange(before, ',');
        std::memcpy(at + 1, part.key.data(), Part::key_room);
        out_.end_at(at + 1 + part.key_size);
    }

    util::Composer out_;
    const View& view_;
    const std::vector<Part>& parts_;
};

}  // namespace

void append_json(std::string& out, const View& view) {
    static const Plan plan;
    Writer(out, view, plan.parts()).object(0, plan.parts().size());
}

}  // namespace filter
