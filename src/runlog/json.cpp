#include "util/json.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "runlog/event.hpp"

namespace runlog {
namespace {

using util::Json;

// Reads an event's members during parsing, without building a JSON tree. If a member occurs twice,
// the last one counts. Values other than strings, booleans, integers and the scatter/gather list of
// a post (`sges`) are ignored.
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
    bool number_unsigned(std::uint64_t value) {
        set_sge(value);
        return take(value);
    }
    bool number_float(double /*value*/, const std::string& /*text*/) { return take(std::nullopt); }
    bool string(std::string& value) { return take(std::move(value)); }
    bool binary(Json::binary_t& /*value*/) { return take(std::nullopt); }
    bool start_object(std::size_t /*size*/) {
        if (depth_ == sges_depth && sges_)
            sges_->emplace_back();
        return depth_ == 0 ? enter() : nest();
    }
    bool start_array(std::size_t /*size*/) {
        const bool begins_sges = depth_ == 1 && key_ == key::sges.name;
        nested_key_.clear();
        const bool is_valid = nest();
        if (begins_sges)
            sges_.emplace();
        return is_valid;
    }
    bool end_object() { return leave(); }
    bool end_array() {
        leave();
        if (depth_ == 1 && sges_)
            take(*std::exchange(sges_, std::nullopt));
        return true;
    }
    bool key(std::string& name) {
        (depth_ == 1 ? key_ : nested_key_) = std::move(name);
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

    // In an object of the list.
    void set_sge(std::uint64_t value) {
        if (depth_ != sges_depth + 1 || !sges_ || sges_->empty())
            return;
        Sge& sge = sges_->back();
        if (nested_key_ == "addr")
            sge.addr = value;
        else if (nested_key_ == "length")
            sge.length = static_cast<std::uint32_t>(value);
        else if (nested_key_ == "lkey")
            sge.lkey = static_cast<std::uint32_t>(value);
    }

    bool take(std::optional<Value> value) {
        if (depth_ == 1)
            take_member(std::move(value));
        return depth_ != 0;  // a line must be an object
    }

    void take_member(std::optional<Value> value) {
        if (key_ == "t_ns")
            t_ns_ = time(value);
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

    // A damaged log may have any number: differences of two times must not overflow, as in a capture.
    static std::optional<std::int64_t> time(const std::optional<Value>& value) {
        constexpr std::int64_t second = 1'000'000'000;
        constexpr std::int64_t earliest = INT32_MIN * second, latest = UINT32_MAX * second;
        if (value && std::holds_alternative<std::int64_t>(*value))
            return std::clamp(std::get<std::int64_t>(*value), earliest, latest);
        if (value && std::holds_alternative<std::uint64_t>(*value))
            return static_cast<std::int64_t>(std::min<std::uint64_t>(
                std::get<std::uint64_t>(*value), static_cast<std::uint64_t>(latest)));
        return std::nullopt;
    }
    static std::optional<std::string> text(std::optional<Value> value) {
        if (value && std::holds_alternative<std::string>(*value))
            return std::get<std::string>(*std::move(value));
        return std::nullopt;
    }

    static constexpr unsigned sges_depth = 2;  // inside the list

    unsigned depth_ = 0;
    std::string key_, nested_key_;
    std::optional<Sges> sges_;  // while it is being read
    std::optional<std::int64_t> t_ns_;
    std::optional<std::string> role_{""}, name_;
    Fields fields_;
};

template <typename T>
const T& json_of(const T& value) {
    return value;
}

Json json_of(const Sges& sges) {
    Json list = Json::array();
    for (const Sge& sge : sges)
        list.push_back({{"addr", sge.addr}, {"length", sge.length}, {"lkey", sge.lkey}});
    return list;
}

}  // namespace

std::string to_json(const Event& event) {
    Json json{{"t_ns", event.t_ns}, {"role", event.role}, {"event", event.name}};
    for (const Field& field : event.fields)
        std::visit([&](const auto& value) { json[field.key] = json_of(value); }, field.value);
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
