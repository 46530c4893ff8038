#include "runlog/event.hpp"

#include <algorithm>

namespace runlog {

bool Event::is_one_of(std::initializer_list<EventName> known) const {
    return std::ranges::any_of(known, [this](EventName each) { return is(each); });
}

const Value* Event::find(std::string_view key) const {
    const auto it = std::ranges::find(fields, key, &Field::key);
    return it == fields.end() ? nullptr : &it->value;
}

std::optional<std::uint64_t> Event::number(std::string_view key) const {
    const Value* value = find(key);
    if (value == nullptr)
        return std::nullopt;
    if (const auto* plain = std::get_if<std::uint64_t>(value))
        return *plain;
    if (const auto* plain = std::get_if<std::int64_t>(value); plain != nullptr && *plain >= 0)
        return static_cast<std::uint64_t>(*plain);
    return std::nullopt;
}

std::optional<std::uint32_t> Event::operator[](const Number32Key& key) const {
    const auto value = number(key.name);
    return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

std::optional<bool> Event::operator[](const TruthKey& key) const {
    const Value* value = find(key.name);
    const auto* plain = value == nullptr ? nullptr : std::get_if<bool>(value);
    return plain == nullptr ? std::nullopt : std::optional(*plain);
}

std::string_view Event::text(std::string_view key) const {
    const Value* value = find(key);
    const auto* plain = value == nullptr ? nullptr : std::get_if<std::string>(value);
    return plain == nullptr ? std::string_view{} : std::string_view{*plain};
}

}  // namespace runlog
