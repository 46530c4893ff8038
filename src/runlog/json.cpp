#include "util/json.hpp"

#include <algorithm>

#include "runlog/event.hpp"

namespace runlog {
namespace {

using util::Json;

// Reads an event's members during parsing, without building a JSON tree. If a member occurs twice,
// the last one counts. Values other than strings, booleans and integers are ignored.
class EventReader {
  public:
    /// nullopt if a member that every event has is missing, except the role.
    std::optional<Event> event() && {
        if (!t_ns_ || !role_ || !name_)
            return std::nullopt;
        return Event{*t_ns_, *std::move(role_), *std::move(name_), std::move(fields_)};
    }

    // Callbacks of nlohmann::json::sax_parse(); false ends parsing.
    bool null() { return take(std::nullopt); }
    bool boolean(bool value) { return take(value); }
    bool number_integer(std::int64_t value) { return take(value); }
    bool number_unsigned(std::uint64_t value) { return take(value); }
    bool number_float(double /*value*/, const std::string& /*text*/) { return take(std::nullopt); }
    bool string(std::string& value) { return take(std::move(value)); }
    bool binary(Json::binary_t& /*value*/) { return take(std::nullopt); }
    bool start_object(std::size_t /*size*/) { return depth_ == 0 ? enter() : nest(); }
    bool start_array(std::size_t /*size*/) { return nest(); }
    bool end_object() { return leave(); }
    bool end_array() { return leave(); }
    bool key(std::string& name) {
        if (depth_ == 1)
            key_ = std::move(name);
        return true;
    }
    static bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                            const Json::exception& /*error*/) {
        return false;
    }

  private:
    bool enter() {
        ++depth_;
        return true;
    }
    bool nest() { return take(std::nullopt) && enter(); }
    bool leave() {
        --depth_;
        return true;
    }

    bool take(std::optional<Value> value) {
        if (depth_ == 1)
            take_member(std::move(value));
        return depth_ != 0;  // a line must be an object
    }

    void take_member(std::optional<Value> value) {
        if (key_ == "t_ns")
            t_ns_ = integer(value);
        else if (key_ == "role")
            role_ = text(std::move(value));
        else if (key_ == "event")
            name_ = text(std::move(value));
        else
            take_field(std::move(value));
    }

    void take_field(std::optional<Value> value) {
        const auto known = std::ranges::find(fields_, key_, &Field::key);
        if (known != fields_.end())
            fields_.erase(known);
        if (value)
            fields_.emplace_back(key_, *std::move(value));
    }

    static std::optional<std::int64_t> integer(const std::optional<Value>& value) {
        if (value && std::holds_alternative<std::int64_t>(*value))
            return std::get<std::int64_t>(*value);
        if (value && std::holds_alternative<std::uint64_t>(*value))
            return static_cast<std::int64_t>(std::get<std::uint64_t>(*value));
        return std::nullopt;
    }
    static std::optional<std::string> text(std::optional<Value> value) {
        if (value && std::holds_alternative<std::string>(*value))
            return std::get<std::string>(*std::move(value));
        return std::nullopt;
    }

    unsigned depth_ = 0;
    std::string key_;
    std::optional<std::int64_t> t_ns_;
    std::optional<std::string> role_{""}, name_;
    Fields fields_;
};

}  // namespace

std::string to_json(const Event& event) {
    Json json{{"t_ns", event.t_ns}, {"role", event.role}, {"event", event.name}};
    for (const Field& field : event.fields)
        std::visit([&](const auto& value) { json[field.key] = value; }, field.value);
    // A text may contain invalid UTF-8 from a peer. It is replaced, so that the log stays valid
    // JSON.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Event> from_json(std::string_view line) {
    EventReader reader;
    if (!Json::sax_parse(line, &reader))
        return std::nullopt;
    return std::move(reader).event();
}

}  // namespace runlog
