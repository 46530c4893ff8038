#include <nlohmann/json.hpp>

#include "runlog/event.hpp"

namespace runlog {
namespace {

using Json = nlohmann::ordered_json;

std::optional<Value> value_of(const Json& json) {
    if (json.is_boolean())
        return Value(json.get<bool>());
    if (json.is_number_unsigned())
        return Value(json.get<std::uint64_t>());
    if (json.is_number_integer())
        return Value(json.get<std::int64_t>());
    if (json.is_string())
        return Value(json.get<std::string>());
    return std::nullopt;
}

}  // namespace

std::string to_json(const Event& event) {
    Json json{{"t_ns", event.t_ns}, {"role", event.role}, {"event", event.name}};
    for (const Field& field : event.fields)
        std::visit([&](const auto& value) { json[field.key] = value; }, field.value);
    // A text may hold bytes from a peer that are no UTF-8: they are replaced, the log stays
    // readable JSON.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Event> from_json(std::string_view line) {
    const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !json.contains("t_ns") || !json["t_ns"].is_number_integer() ||
        !json.contains("role") || !json["role"].is_string() || !json.contains("event") ||
        !json["event"].is_string())
        return std::nullopt;
    Event event{json["t_ns"].get<std::int64_t>(),
                json["role"].get<std::string>(),
                json["event"].get<std::string>(),
                {}};
    for (const auto& [key, item] : json.items())
        if (key != "t_ns" && key != "role" && key != "event")
            if (auto value = value_of(item))
                event.fields.emplace_back(key, *std::move(value));
    return event;
}

}  // namespace runlog
